------------------------------- MODULE Worlds -------------------------------
(* The small worlds in which StreamLog is searched; a .cfg file chooses one. *)
EXTENDS StreamLog

AB == {"a", "b"}
HomeAB == [x \in AB |-> IF x = "a" THEN 0 ELSE 1]

(* Two transactions, each writes what the other reads. *)
SkewReads == [t \in {"t", "u"} |-> IF t = "t" THEN {"a"} ELSE {"b"}]
SkewWrites == [t \in {"t", "u"} |-> IF t = "t" THEN {"b"} ELSE {"a"}]

(* One that writes both streams, one that only reads them, and a call on one of them. *)
BothReads == [t \in {"t", "r"} |-> IF t = "t" THEN {} ELSE AB]
BothWrites == [t \in {"t", "r"} |-> IF t = "t" THEN AB ELSE {}]
OneOnA == [k \in {"k"} |-> "a"]

(* Two that write both streams, and read one. *)
WritersReads == [t \in {"t", "u"} |-> IF t = "t" THEN {"a"} ELSE {"b"}]
WritersWrites == [t \in {"t", "u"} |-> AB]

(* A transaction over both streams among calls on one of them. *)
SingleReads == [t \in {"t"} |-> {"a"}]
SingleWrites == [t \in {"t"} |-> AB]
TwoOnA == [k \in {"k", "l"} |-> "a"]

None == [t \in {} |-> {}]
=============================================================================
