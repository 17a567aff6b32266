"""The adaptive cascade: how long a draft should be at this position, and who should write it.

For a reviewer that emits lambda tokens a second (`tokens_per_second` in the code), a drafted token pays for itself if

    P(it and all tokens before it are accepted)  >  lambda x (seconds to draft it + seconds that the review gets longer)

This is the renewal-reward rule with the measured cost of every width; the paper fixes K by hand instead. A copy is
made at the length with the largest total gain; a draft model is asked for one round, and then the choice is made again.

`prior` holds what is expected before a text begins, `estimates` what is learned while decoding, `value` the arithmetic,
and `policy` the decision. Whether a position stays in a draft depends only on the tokens and distributions before it,
so the text is the target's under every rule. Costs are tables, not clocks: the same prompt gives the same blocks again.
"""
