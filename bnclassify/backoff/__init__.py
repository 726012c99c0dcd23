"""Tables that back off to shorter ones, weights by leave-one-out, averaged cut points."""
