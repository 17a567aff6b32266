"""The adaptive cascade: how long a draft should be at this position, and who should write it.

A reviewer that emits lambda tokens a second should be given one more drafted token exactly as long as

    P(it and all tokens before it are accepted)  >  lambda x (seconds to draft it + seconds that the review gets longer)

This is the renewal-reward rule with the measured cost of every width; the paper fixes K by hand instead. `prior` holds
what is expected before a text begins, `estimates` what is learned while decoding, `policy` the decision itself.

Whether a position stays in a draft depends only on the tokens and distributions before it, so the text is the target's
under every rule. Costs are tables, not clocks: the same prompt gives the same blocks again.
"""
