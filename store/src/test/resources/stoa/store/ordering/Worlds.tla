------------------------------- MODULE Worlds -------------------------------
(* The small world that TLC searches: two transactions over both groups, one of    *)
(* which meets a single call, and which meet each other when Meet says so.        *)
EXTENDS OneOrder

TwoGroups == {"g", "h"}
Places == [w |-> "g", x |-> "g", y |-> "h", z |-> "h"]
Disjoint == [a |-> {"w", "y"}, b |-> {"x", "z"}, p |-> {"x"}]
Meeting == [a |-> {"w", "y"}, b |-> {"w", "z"}, p |-> {"x"}]
SingleCalls == {"p"}
=============================================================================
