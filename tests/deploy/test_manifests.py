"""The files in docs/deploy agree with each other and with the page."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

import pytest
import yaml

from csd.paths import ROOT
from csd.web import slow_clients, uploads, whole_bodies
from csd.web.health import LIVE, READY

FOLDER = ROOT / "docs" / "deploy"
HAPROXY = (FOLDER / "haproxy.cfg").read_text(encoding="utf-8")
NGINX = (FOLDER / "nginx.conf").read_text(encoding="utf-8")
PORT = 7860


def find_program(name: str) -> str:
    program = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None:
        pytest.skip(f"{name} is not installed")
    return program


def probes() -> set[str]:
    """The paths that the page answers for probes."""
    return {LIVE, READY}


def test_compose_starts_what_the_proxy_asks_for():
    services = yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))["services"]
    proxy = services.pop("proxy")
    assert set(proxy["depends_on"]) == set(services) == set(re.findall(r"^    server (\S+)", HAPROXY, re.MULTILINE))
    addresses = {value for name, value in proxy["environment"].items() if name.startswith("CSD_REPLICA")}
    assert addresses == {f"{name}:{PORT}" for name in services}
    assert set(proxy["environment"]) == set(re.findall(r"\$\{(\w+)\}", HAPROXY))
    assert proxy["ports"] == [f"8080{proxy['environment']['CSD_PROXY']}"]
    for service in services.values():
        assert (FOLDER / service["build"]["context"] / service["build"]["dockerfile"]).samefile(FOLDER / "Dockerfile")
    assert all((FOLDER / volume.split(":")[0]).is_file() for volume in proxy["volumes"])


def test_each_visitor_stays_with_one_replica():
    for name, cookie in re.findall(r"^    server (\S+) \S+ cookie (\S+)", HAPROXY, re.MULTILINE):
        assert name == cookie
    assert "cookie csd_replica insert" in HAPROXY and "option redispatch" in HAPROXY
    assert set(re.findall(r"uri (\S+)", HAPROXY)) <= probes()


def test_haproxy_accepts_its_file():
    program = find_program("haproxy")
    addresses = {"CSD_PROXY": ":8080", "CSD_REPLICA_1": "127.0.0.1:7861", "CSD_REPLICA_2": "127.0.0.1:7862"}
    checked = subprocess.run(
        [program, "-c", "-f", FOLDER / "haproxy.cfg"], env={**os.environ, **addresses}, capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stderr


def test_nginx_passes_on_what_the_page_takes():
    limits = dict(
        re.findall(r"^    (client_max_body_size|client_body_timeout|client_header_timeout) (\d+)", NGINX, re.M)
    )
    assert int(limits["client_max_body_size"]) * 2**20 >= uploads.REQUEST
    assert int(limits["client_body_timeout"]) <= whole_bodies.SECONDS
    assert int(limits["client_header_timeout"]) <= slow_clients.SECONDS
    assert "proxy_buffering off;" in NGINX and "proxy_read_timeout 1h;" in NGINX


def test_nginx_accepts_its_file(tmp_path):
    program = find_program("nginx")
    site, main = tmp_path / "site", tmp_path / "nginx.conf"
    site.write_text(NGINX.replace("listen 80;", f"listen unix:{tmp_path / 'socket'};"), encoding="utf-8")  # not root
    folders = "".join(
        f"{kind}_temp_path {tmp_path}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    http = f"access_log off; {folders} include {site};"
    main.write_text(f"pid {tmp_path}/pid; error_log stderr; events {{}} http {{ {http} }}", encoding="utf-8")
    checked = subprocess.run([program, "-t", "-e", "stderr", "-c", main], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr


def test_no_visitor_chooses_an_address():
    """The page believes its proxies, and they do not repeat what a visitor says."""
    assert re.search(r"^    http-request set-header X-Forwarded-For %\[src\]", HAPROXY, re.MULTILINE)
    assert "option forwardfor" not in HAPROXY
    assert re.search(r"^    proxy_set_header X-Forwarded-For \$remote_addr;", NGINX, re.MULTILINE)
    services = yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))["services"]
    for name, service in services.items():
        assert ("FORWARDED_ALLOW_IPS" in service["environment"]) == (name != "proxy")
        assert "ports" not in service or name == "proxy"  # nobody else reaches a replica


def test_kubernetes_objects_refer_to_each_other():
    objects = yaml.safe_load_all((FOLDER / "kubernetes.yaml").read_text(encoding="utf-8"))
    deployment, service, ingress = objects
    kinds = [(one["apiVersion"], one["kind"]) for one in (deployment, service, ingress)]
    assert kinds == [("apps/v1", "Deployment"), ("v1", "Service"), ("networking.k8s.io/v1", "Ingress")]
    pod = deployment["spec"]["template"]
    labels = pod["metadata"]["labels"]
    assert deployment["spec"]["selector"]["matchLabels"] == service["spec"]["selector"] == labels
    (container,) = pod["spec"]["containers"]
    assert container["ports"] == [{"name": "http", "containerPort": PORT}]
    assert service["spec"]["ports"][0]["targetPort"] == "http" and service["spec"]["sessionAffinity"] == "ClientIP"
    assert container["resources"]["requests"] == container["resources"]["limits"]  # its cores are its own
    paths = {container[probe]["httpGet"]["path"] for probe in ("readinessProbe", "livenessProbe")}
    assert paths == probes()
    annotations = ingress["metadata"]["annotations"]
    assert all(isinstance(value, str) for value in annotations.values())
    backend = ingress["spec"]["rules"][0]["http"]["paths"][0]["backend"]["service"]
    assert backend == {"name": service["metadata"]["name"], "port": {"name": service["spec"]["ports"][0]["name"]}}


def test_the_image_starts_the_page():
    lines = (FOLDER / "Dockerfile").read_text(encoding="utf-8").splitlines()
    assert lines[-1] == 'CMD ["python", "app.py"]' and f"EXPOSE {PORT}" in lines
    assert any(line.startswith("ENV GRADIO_SERVER_NAME=0.0.0.0") and f"PORT={PORT}" in line for line in lines)
    assert "USER cascade" in lines
