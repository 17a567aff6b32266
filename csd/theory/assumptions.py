"""What the paper's model assumes, in words, beside its curves."""

from __future__ import annotations

ASSUMPTIONS = """<h3>What the curves assume</h3>
<p>α is the share of a drafter's tokens that its reviewer accepts; c is the time of one of its forward passes, in
passes of the target. The model treats acceptances as independent, a review as one pass however long the block is, and
everything else (bookkeeping of the drafts, the page) as free. In reality wider reviews cost more and acceptances are
correlated, so measured speed-ups differ. A speed-up is the expected number of tokens per round over the cost of the
round in target passes.</p>
<dl class="glossary">
<dt>speculative</dt><dd><code>(1 − α^(k+1)) / ((1 − α) (1 + c k))</code>: the target reviews k tokens of the draft
(Leviathan et al., theorem 3.8).</dd>
<dt>vertical cascade</dt><dd><code>(1 − α φ(α)^n) / ((1 − α) (1 + n c₁ + n k c₂))</code> with
<code>φ(x) = 1 + (x − 1) (1 − (x α′)^(k+1)) / (1 − x α′)</code>: n passes of the draft, each reviewing k tokens of a
smaller draft, which it accepts at rate α′ (theorem 4.3).</dd>
<dt>horizontal cascade</dt><dd><code>(1 + α₁ + α₁α₂ + …) / (1 + c₁ + c₂ + …)</code>: each position of the block has the
α and the c of its drafter (theorem 4.5).</dd>
<dt>both</dt><dd>The vertical cascade followed by copied tokens. For an arbitrary K the page evaluates the tree the same
way.</dd>
</dl>"""
