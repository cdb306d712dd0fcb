------------------------------ MODULE OneOrder ------------------------------
(* The commit of transactions over several groups with one order, as            *)
(* stoa.store.ordering.CommitProtocol, stoa.store.Participant and                *)
(* stoa.store.batches.Intake run it. Home logs the decisions. A group is any      *)
(* store, home included. Its objects are written by transactions and single calls.  *)
(*                                                                             *)
(* An action is one step of one process. Messages are lost when nobody takes      *)
(* the step that receives them. A group may be opened again at any moment: its     *)
(* claims are gone then, and it learns the decisions that its log lacks. The       *)
(* coordinator may be replaced at any moment: the next one knows only home's log.  *)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS Groups,      \* the groups beside home
          GroupOf,     \* the group of each object
          Writes,      \* the objects that each operation changes: transactions and calls
          Calls,       \* the operations that are single calls, on one object
          Room,        \* how far ahead of the last address a decision lies
          ReopenMax,   \* how often groups and the coordinator are replaced
          Fault        \* the rule that is broken; "none"

Ops == DOMAIN Writes
Txs == Ops \ Calls
Objects == DOMAIN GroupOf
None == "none"

VARIABLES
  log,       \* the log of each group: a sequence of [at |-> address, op |-> name]
  claim,     \* the transaction that has claimed an object; None
  batch,     \* the batch of a group: [at, op], which has its address; None
  home,      \* the decisions in home's log: a sequence of [at, op]
  logging,   \* the decision that home is logging; None
  votes,     \* the groups that have voted for a transaction, for this coordinator
  found,     \* the number of entries on each object at the vote for a transaction
  last,      \* the last address that the coordinator has given
  owed,      \* the decided transactions that a group has not logged
  begun,     \* the operations that were called, with the answers known then
  answered,  \* the operations that were answered
  reopened

vars == <<log, claim, batch, home, logging, votes, found, last, owed, begun, answered, reopened>>

Appended(to, entry) == to \o <<entry>>
Entry(at, op) == [at |-> at, op |-> op]
Logged(g) == {log[g][i].op : i \in DOMAIN log[g]}
Decided == {home[i].op : i \in DOMAIN home}
Address(t) == LET i == CHOOSE j \in DOMAIN home : home[j].op = t IN home[i].at
GroupsOf(o) == {GroupOf[x] : x \in Writes[o]}
On(g, x, n) == Cardinality({i \in 1..n : x \in Writes[log[g][i].op]})

Init ==
  /\ log = [g \in Groups |-> <<>>]
  /\ claim = [x \in Objects |-> None]
  /\ batch = [g \in Groups |-> Entry(0, None)]
  /\ home = <<>>
  /\ logging = Entry(0, None)
  /\ votes = [t \in Txs |-> {}]
  /\ found = [t \in Txs |-> [x \in Writes[t] |-> 0]]
  /\ last = 0
  /\ owed = [g \in Groups |-> {}]
  /\ begun = [o \in {} |-> {}]
  /\ answered = {}
  /\ reopened = 0

Begin(o) ==
  /\ o \notin DOMAIN begun
  /\ begun' = [p \in DOMAIN begun \cup {o} |-> IF p = o THEN answered ELSE begun[p]]
  /\ UNCHANGED <<log, claim, batch, home, logging, votes, found, last, owed, answered, reopened>>

------------------------------------------------------------------------------
(* A single call: the leader of its group reserves an address, and logs.          *)

Reserve(g, c) ==
  /\ c \in DOMAIN begun /\ g \in GroupsOf(c) /\ c \notin Logged(g)
  /\ batch[g].op = None
  /\ \/ \A x \in Writes[c] : claim[x] = None
     \/ Fault = "claimed keys get other entries"
  /\ \/ owed[g] = {}
     \/ Fault = "a store that owes parts gets addresses"
  /\ \/ logging.op = None
     \/ last + 1 < logging.at
  /\ last' = last + 1
  /\ batch' = [batch EXCEPT ![g] = Entry(last + 1, c)]
  /\ UNCHANGED <<log, claim, home, logging, votes, owed, found, begun, answered, reopened>>

MakeDurable(g) ==
  /\ batch[g].op # None
  /\ log' = [log EXCEPT ![g] = Appended(@, batch[g])]
  /\ answered' = answered \cup {batch[g].op}
  /\ batch' = [batch EXCEPT ![g] = Entry(0, None)]
  /\ UNCHANGED <<claim, home, logging, votes, found, last, owed, begun, reopened>>

------------------------------------------------------------------------------
(* A transaction: votes with claims, the decision at home, the delivery.          *)

Mine(g, t) == {x \in Writes[t] : GroupOf[x] = g}

Vote(g, t) ==
  /\ t \in DOMAIN begun /\ g \in GroupsOf(t) /\ t \notin Decided
  /\ g \notin votes[t] /\ batch[g].op = None
  /\ \/ \A x \in Mine(g, t) : claim[x] = None
     \/ Fault = "claims do not exclude"
  /\ claim' = [x \in Objects |-> IF x \in Mine(g, t) THEN t ELSE claim[x]]
  /\ votes' = [votes EXCEPT ![t] = @ \cup {g}]
  /\ found' = [found EXCEPT ![t] = [x \in Writes[t] |->
       IF GroupOf[x] = g THEN On(g, x, Len(log[g])) ELSE @[x]]]
  /\ UNCHANGED <<log, batch, home, logging, last, owed, begun, answered, reopened>>

GiveUp(t) == \* another store says later, or is away
  /\ t \notin Decided /\ logging.op # t /\ votes[t] # {}
  /\ claim' = [x \in Objects |-> IF claim[x] = t THEN None ELSE claim[x]]
  /\ votes' = [votes EXCEPT ![t] = {}]
  /\ UNCHANGED <<log, batch, home, logging, found, last, owed, begun, answered, reopened>>

Decide(t) ==
  /\ votes[t] = GroupsOf(t) /\ t \notin Decided
  /\ logging.op = None
  /\ logging' = Entry(last + Room + 1, t)
  /\ UNCHANGED <<log, claim, batch, home, votes, found, last, owed, begun, answered, reopened>>

Log ==
  /\ logging.op # None
  /\ home' = Appended(home, logging)
  /\ last' = IF Fault = "readers of home come first" \/ logging.at < last THEN last ELSE logging.at
  /\ owed' = [g \in Groups |-> IF g \in GroupsOf(logging.op) THEN owed[g] \cup {logging.op} ELSE owed[g]]
  /\ answered' = answered \cup {logging.op}
  /\ logging' = Entry(0, None)
  /\ UNCHANGED <<log, claim, batch, votes, found, begun, reopened>>

Deliver(g, t) ==
  /\ t \in owed[g] /\ batch[g].op = None
  /\ \/ \A u \in owed[g] : Address(t) <= Address(u)
     \/ Fault = "parts come in any order"
  /\ log' = [log EXCEPT ![g] = Appended(@, Entry(Address(t), t))]
  /\ owed' = [owed EXCEPT ![g] = @ \ {t}]
  /\ claim' = [x \in Objects |-> IF x \in Mine(g, t) THEN None ELSE claim[x]]
  /\ UNCHANGED <<batch, home, logging, votes, found, last, begun, answered, reopened>>

------------------------------------------------------------------------------
(* Failures.                                                                   *)

(* A group is opened by another server. It asks the coordinator, which answers    *)
(* when it decides over no vote of the group, and knows what the log lacks.       *)
Reopen(g) ==
  /\ reopened < ReopenMax
  /\ reopened' = reopened + 1
  /\ \/ ~(logging.op # None /\ g \in GroupsOf(logging.op))
     \/ Fault = "owners change while a decision is logged"
  /\ LET missing == {t \in Decided : g \in GroupsOf(t)} \ Logged(g)
         RECURSIVE Restored(_, _)
         Restored(ts, to) ==
           IF ts = {} THEN to
           ELSE LET t == CHOOSE u \in ts : \A w \in ts : Address(u) <= Address(w)
                IN Restored(ts \ {t}, Appended(to, Entry(Address(t), t)))
     IN log' = [log EXCEPT ![g] = Restored(missing, @)]
  /\ batch' = [batch EXCEPT ![g] = Entry(0, None)]
  /\ claim' = [x \in Objects |-> IF GroupOf[x] = g THEN None ELSE claim[x]]
  /\ votes' = [t \in Txs |-> IF Fault = "votes outlive their owner" THEN votes[t] ELSE votes[t] \ {g}]
  /\ owed' = [owed EXCEPT ![g] = {}]
  /\ UNCHANGED <<home, logging, found, last, begun, answered>>

(* Another server leads home. A decision that is on its way is logged before it,   *)
(* or never. The next coordinator tells every group before it gives it addresses,  *)
(* and begins behind all that were given.                                         *)
NewCoordinator ==
  /\ reopened < ReopenMax
  /\ reopened' = reopened + 1
  /\ last' = last + 2 * Room + 2
  /\ logging' = Entry(0, None)
  /\ votes' = [t \in Txs |-> {}]
  /\ claim' = [x \in Objects |-> IF claim[x] \in Decided THEN claim[x] ELSE None]
  /\ owed' = [g \in Groups |-> {t \in Decided : g \in GroupsOf(t)} \ Logged(g)]
  /\ batch' = [g \in Groups |-> Entry(0, None)]
  /\ UNCHANGED <<log, home, found, begun, answered>>

Next ==
  \/ \E o \in Ops : Begin(o)
  \/ \E g \in Groups : \E c \in Calls : Reserve(g, c)
  \/ \E g \in Groups : MakeDurable(g) \/ Reopen(g)
  \/ \E g \in Groups : \E t \in Txs : Vote(g, t) \/ Deliver(g, t)
  \/ \E t \in Txs : GiveUp(t) \/ Decide(t)
  \/ Log
  \/ NewCoordinator

Spec == Init /\ [][Next]_vars

------------------------------------------------------------------------------
(* What must hold.                                                             *)

(* Every log ascends. *)
Ascends == \A g \in Groups : \A i, j \in DOMAIN log[g] : i < j => log[g][i].at < log[g][j].at

(* An address names one operation over all groups, and an operation has one address. *)
Entries == UNION {{log[g][i] : i \in DOMAIN log[g]} : g \in Groups} \cup {home[i] : i \in DOMAIN home}
OneAddress == \A a, b \in Entries : (a.at = b.at) <=> (a.op = b.op)

(* Nothing is logged twice. *)
Once == \A g \in Groups : \A i, j \in DOMAIN log[g] : log[g][i].op = log[g][j].op => i = j

(* A part is logged if its transaction was decided, and all of them when nothing is owed. *)
AllOrNone ==
  /\ \A g \in Groups : Logged(g) \cap Txs \subseteq Decided
  /\ \A t \in Decided : \A g \in GroupsOf(t) : t \in Logged(g) \/ t \in owed[g]

(* Nothing has come between a vote and the part: what the transaction read is still  *)
(* what it changes.                                                              *)
NothingBetween ==
  \A g \in Groups : \A i \in DOMAIN log[g] :
    log[g][i].op \in Txs =>
      \A x \in Mine(g, log[g][i].op) : On(g, x, i - 1) = found[log[g][i].op][x]

(* What was answered before an operation was called has a lower address. *)
RealTime ==
  \A a, b \in Entries :
    b.op \in DOMAIN begun /\ a.op \in begun[b.op] => a.at < b.at

(* A reader of an object waits for the batch in progress and for a claim. It then  *)
(* sees every operation on the object that was answered before.                  *)
Of(x) == {o \in Ops : x \in Writes[o]}
ReadsThePresent ==
  \A x \in Objects :
    /\ batch[GroupOf[x]].op = None
    /\ claim[x] = None \/ Fault = "readers do not wait for claims"
    => answered \cap Of(x) \subseteq Logged(GroupOf[x])

(* A reader as of the last address waits for the batch in progress. The coordinator  *)
(* answers when the group owes nothing. The reader sees the same, and nothing more  *)
(* comes up to this address.                                                       *)
MayReadAsOf(g) ==
  batch[g].op = None /\ (owed[g] = {} \/ Fault = "readers as of an address do not wait")
UpTo(g, at) == {log[g][i].op : i \in {j \in DOMAIN log[g] : log[g][j].at <= at}}
ReadsAsOf ==
  \A g \in Groups : MayReadAsOf(g) => {o \in answered : g \in GroupsOf(o)} \subseteq UpTo(g, last)
StaysAsOf ==
  [][\A g \in Groups : MayReadAsOf(g) =>
       {log'[g][i].op : i \in {j \in DOMAIN log'[g] : log'[g][j].at <= last}} = UpTo(g, last)]_vars
=============================================================================
