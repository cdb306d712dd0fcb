----------------------------- MODULE StreamLog -----------------------------
(***************************************************************************)
(* How transactions and single calls become durable over several shards:  *)
(* tokens and conditional tokens, commit records, delivery of their parts, *)
(* holes, seals, and the change of sequencer.                              *)
(*                                                                         *)
(* A shard is a replicated log; what it has logged is never lost, so its   *)
(* state changes in one step. It has two sides: a log unit, which holds    *)
(* what log addresses hold, and a stream unit, which holds what stream     *)
(* addresses hold. Leaders of shards, coordinators and sequencers keep     *)
(* nothing: a crash of one of them is a step that never comes, or a new    *)
(* term, or a new epoch.                                                   *)
(*                                                                         *)
(* Messages are not consumed: whatever was once granted, recorded, filled  *)
(* or ordered may arrive at any later time, never, or again. The set       *)
(* `grants` is all tokens that ever left a sequencer, whoever holds them.  *)
(*                                                                         *)
(* `Fault` names one rule that is broken, or "none". With every fault some *)
(* invariant must fail, which shows that the rule is needed and that the   *)
(* invariants can see it.                                                  *)
(***************************************************************************)
EXTENDS Integers, FiniteSets

CONSTANTS
  Streams,       \* the streams
  ShardMax,      \* shards are numbered 0 .. ShardMax
  Home,          \* which shard hosts a stream: [Streams -> 0..ShardMax]
  Transactions,  \* transactions, each with a set of streams that it ...
  Reads,         \* ... reads: [Transactions -> SUBSET Streams]
  Writes,        \* ... writes: [Transactions -> SUBSET Streams]
  Calls,         \* single calls, each on one stream
  CallOn,        \* [Calls -> Streams]
  EpochMax, TermMax, CounterMax, AttemptsMax, VersionMax,  \* bounds of the search
  Forgetting,    \* whether the sequencer forgets streams
  Fault

VARIABLES
  epoch,    \* the epoch of the layout; its sequencer is the only one that may answer
  seq,      \* that sequencer
  grants,   \* every token that was ever issued
  records,  \* log units: the tokens whose address holds a commit record
  holes,    \* log units: the tokens whose address holds a hole
  sealed,   \* shards: the epoch at which a shard is sealed
  closing,  \* the epochs whose sequencer ordered the shards to close older ones
  closed,   \* shards: the epoch below which no version is missing any more
  term,     \* shards: the term of the leader
  stream,   \* shards: what each version of each stream holds
  tx        \* transactions: where they are, and what they have seen

vars == <<epoch, seq, grants, records, holes, sealed, closing, closed, term, stream, tx>>

Shards == 0..ShardMax
Versions == 1..VersionMax

(* A log address is <<epoch, counter>>. *)
Before(a, b) == a[1] < b[1] \/ (a[1] = b[1] /\ a[2] < b[2])
AtOrBefore(a, b) == a = b \/ Before(a, b)
Later(S) == IF S = {} THEN <<0, 0>> ELSE CHOOSE a \in S : \A b \in S : AtOrBefore(b, a)
Highest(S) == IF S = {} THEN 0 ELSE CHOOSE n \in S : \A m \in S : m <= n

(* What a version of a stream holds: nothing yet, a hole, or the log address of its entry. *)
Empty == <<0, 0>>
Hole == <<0, 1>>
IsEntry(slot) == slot[1] > 0

Unit(g) == g.addr[2] % (ShardMax + 1)
IsTransaction(g) == g.who \in Transactions
Parts(g, s) == {x \in DOMAIN g.at : Home[x] = s}
Granted(w) == {g \in grants : g.who = w}

Entries(x) == {stream[x][v] : v \in {u \in Versions : IsEntry(stream[x][u])}}
Top(x) == Highest({v \in Versions : stream[x][v] # Empty})
(* The versions that can be read: up to the first one that is not settled. *)
Dense(x) == Highest({v \in Versions : \A u \in 1..v : stream[x][u] # Empty})

Appended(g) == \E x \in DOMAIN g.at : stream[x][g.at[x]] = g.addr
Committed(g) == IF IsTransaction(g) THEN g \in records ELSE Appended(g)
Delivered(g) == \A x \in DOMAIN g.at : stream[x][g.at[x]] # Empty
Active == seq.phase = "active"
Tail == <<epoch, seq.next - 1>>

(* A fresh sequencer, before it knows anything. *)
Recovering == [phase |-> "recovering", next |-> 0,
               changes |-> [x \in Streams |-> {}],
               used |-> [x \in Streams |-> 0],
               known |-> Streams,
               terms |-> [s \in Shards |-> 0]]

Init ==
  /\ epoch = 1
  /\ seq = [Recovering EXCEPT !.phase = "active", !.next = 1]
  /\ grants = {} /\ records = {} /\ holes = {}
  /\ sealed = [s \in Shards |-> 1]
  /\ closing = {}
  /\ closed = [s \in Shards |-> 1]
  /\ term = [s \in Shards |-> 1]
  /\ stream = [x \in Streams |-> [v \in Versions |-> Empty]]
  /\ tx = [t \in Transactions |->
            [phase |-> "idle", start |-> Empty, bound |-> [x \in {} |-> 0], seen |-> [x \in {} |-> {}]]]

-----------------------------------------------------------------------------
(* Transactions *)

(* A transaction begins at the tail: at the last address issued. *)
Begin(t) ==
  /\ Active
  /\ tx[t].phase = "idle"
  /\ tx' = [tx EXCEPT ![t].phase = "begun", ![t].start = Tail]
  /\ UNCHANGED <<epoch, seq, grants, records, holes, sealed, closing, closed, term, stream>>

With(f, x, value) == [y \in DOMAIN f \union {x} |-> IF y = x THEN value ELSE f[y]]

(* Whoever reads asks first, after the start is known, what was issued to the stream ... *)
Check(t, x) ==
  /\ Active
  /\ tx[t].phase = "begun"
  /\ x \in Reads[t] \ DOMAIN tx[t].bound
  /\ x \in seq.known
  /\ tx' = [tx EXCEPT ![t].bound = With(@, x, seq.used[x])]
  /\ UNCHANGED <<epoch, seq, grants, records, holes, sealed, closing, closed, term, stream>>

(* ... and the stream unit answers when all of that is settled, or something beyond the start. *)
ReadyAt(x, start, bound) ==
  \/ Dense(x) >= bound
  \/ \E v \in 1..Dense(x) : Before(start, stream[x][v])

Seen(x, start) == {a \in {stream[x][v] : v \in 1..Dense(x)} : IsEntry(a) /\ AtOrBefore(a, start)}

Read(t, x) ==
  /\ x \in DOMAIN tx[t].bound \ DOMAIN tx[t].seen
  /\ Fault = "reads do not wait" \/ ReadyAt(x, tx[t].start, tx[t].bound[x])
  /\ tx' = [tx EXCEPT ![t].seen = With(@, x, Seen(x, tx[t].start))]
  /\ UNCHANGED <<epoch, seq, grants, records, holes, sealed, closing, closed, term, stream>>

(* The changes above the start that the sequencer has in mind. One under way may become a hole. *)
UnderWay(a) == \E g \in grants : g.addr = a /\ a[1] = epoch /\ ~Delivered(g)
Happened(a) == \E g \in grants : g.addr = a /\ Committed(g)
Above(x, start) ==
  {a \in seq.changes[x] :
    IF Fault = "counters compared without epochs" THEN a[2] > start[2] ELSE Before(start, a)}
Concerned(t) ==
  IF Fault = "what was read is not checked" THEN Writes[t] ELSE Reads[t] \union Writes[t]
Conflict(t) ==
  \E x \in Concerned(t) : \E a \in Above(x, tx[t].start) :
    IF Fault = "refused by what may become a hole"
    THEN UnderWay(a) \/ Happened(a) ELSE ~UnderWay(a) /\ Happened(a)
MustWait(t) == \E x \in Concerned(t) : \E a \in Above(x, tx[t].start) : UnderWay(a)

NoRoom(xs) == seq.next > CounterMax \/ \E x \in xs : seq.used[x] >= VersionMax

(* What the sequencer remembers when it issues the next address to versions of some streams. *)
Issued(xs) == [seq EXCEPT
  !.next = @ + 1,
  !.changes = [x \in Streams |->
    IF x \in xs THEN seq.changes[x] \union {<<epoch, seq.next>>} ELSE seq.changes[x]],
  !.used = [x \in Streams |-> IF x \in xs THEN seq.used[x] + 1 ELSE seq.used[x]]]

Token(w, xs, start, m) ==
  [addr |-> <<epoch, seq.next>>, who |-> w, at |-> [x \in xs |-> seq.used[x] + 1],
   from |-> start, term |-> m]

(* The earlier attempt is settled: it can never commit any more. *)
Dead(g) == g \in holes \/ (g.addr[1] < epoch /\ g \notin records)

(* A conditional token for a transaction that has read all it wants: refused when a stream that was
   read or is written has changed since the start. Whoever asked may never hear of it; so any
   coordinator may ask again, also after a refusal, but the earlier attempts are settled first. *)
Grant(t) ==
  /\ Active
  /\ tx[t].phase \in {"begun", "refused"}
  /\ Writes[t] # {}
  /\ DOMAIN tx[t].seen = Reads[t]
  /\ Reads[t] \union Writes[t] \subseteq seq.known
  /\ \/ Fault = "tried again before settled" /\ Cardinality(Granted(t)) > 0
     \/ \A g \in Granted(t) : Dead(g)
  /\ IF Conflict(t)
     THEN /\ tx' = [tx EXCEPT ![t].phase = "refused"]
          /\ UNCHANGED <<seq, grants>>
     ELSE /\ ~MustWait(t) \/ Fault = "tried again before settled"
          /\ ~NoRoom(Writes[t])
          /\ Cardinality(Granted(t)) < AttemptsMax
          /\ grants' = grants \union {Token(t, Writes[t], tx[t].start, 0)}
          /\ seq' = Issued(Writes[t])
          /\ UNCHANGED tx
  /\ UNCHANGED <<epoch, records, holes, sealed, closing, closed, term, stream>>

(* The commit: the whole write set goes to the log unit of its address, once. *)
Record(g) ==
  /\ g \in grants /\ IsTransaction(g)
  /\ Fault = "a seal does not bind log units" \/ sealed[Unit(g)] = g.addr[1]
  /\ g \notin records
  /\ Fault = "records are not write-once" \/ g \notin holes
  /\ records' = records \union {g}
  /\ UNCHANGED <<epoch, seq, grants, holes, sealed, closing, closed, term, stream, tx>>

(* The sequencer, or who asks it, has the log unit settle an address that stays empty. The request
   says which versions go with the address. *)
Fill(g) ==
  /\ g \in grants /\ IsTransaction(g)
  /\ sealed[Unit(g)] = g.addr[1]
  /\ g \notin records \union holes
  /\ holes' = holes \union {g}
  /\ UNCHANGED <<epoch, seq, grants, records, sealed, closing, closed, term, stream, tx>>

Settle(g, xs, what) ==
  stream' = [x \in Streams |->
    IF x \in xs /\ stream[x][g.at[x]] = Empty
    THEN [stream[x] EXCEPT ![g.at[x]] = what] ELSE stream[x]]

(* The log unit delivers the parts of a record to a shard, in any epoch, any number of times. *)
Deliver(g, s) ==
  /\ g \in (IF Fault = "parts before the record"
            THEN {h \in grants : IsTransaction(h) /\ sealed[Unit(h)] = h.addr[1]} ELSE records)
  /\ Parts(g, s) # {}
  /\ Settle(g, Parts(g, s), g.addr)
  /\ UNCHANGED <<epoch, seq, grants, records, holes, sealed, closing, closed, term, tx>>

(* The log unit tells a shard of a hole, in any epoch, any number of times. *)
DeliverHole(g, s) ==
  /\ g \in holes
  /\ Parts(g, s) # {}
  /\ Settle(g, Parts(g, s), Hole)
  /\ UNCHANGED <<epoch, seq, grants, records, holes, sealed, closing, closed, term, tx>>

(* Somebody who waits for a version settles it without asking its arbiter. Not allowed. *)
FillByAnybody(x) ==
  /\ Fault = "holes filled by anybody"
  /\ Dense(x) < Top(x)
  /\ stream' = [stream EXCEPT ![x][Dense(x) + 1] = Hole]
  /\ UNCHANGED <<epoch, seq, grants, records, holes, sealed, closing, closed, term, tx>>

-----------------------------------------------------------------------------
(* Single calls: the shard's leader takes a token for a batch, which here has one call. *)

Current(g) == g.addr[1] = epoch /\ g.term = term[Home[CallOn[g.who]]]
Unused(g) == \A x \in DOMAIN g.at : stream[x][g.at[x]] = Empty

(* A leader knows what is in its shard when its term opened, and what it has under way itself. A
   leader of an older term may still run; the sequencer refuses it once it knows better. *)
Take(k, m) ==
  LET x == CallOn[k]
      s == Home[x]
  IN
  /\ Active
  /\ x \in seq.known
  /\ m \in 1..term[s] /\ m >= seq.terms[s]
  /\ \A g \in Granted(k) : ~Appended(g) \/ g.term > m
  /\ \A g \in Granted(k) : ~(g.term = m /\ g.addr[1] = epoch /\ Unused(g))
  /\ ~NoRoom({x})
  /\ grants' = grants \union {Token(k, {x}, Empty, m)}
  /\ seq' = [Issued({x}) EXCEPT !.terms[s] = m]
  /\ UNCHANGED <<epoch, records, holes, sealed, closing, closed, term, stream, tx>>

(* The batch becomes an entry of the shard's log; every replica decides in the same way whether it
   is void: by its epoch, by its term, and because the version is settled. *)
Append(g) ==
  LET s == Home[CallOn[g.who]] IN
  /\ g \in grants /\ g.who \in Calls
  /\ Fault = "a seal does not bind stream units" \/ g.addr[1] = sealed[s]
  /\ Fault = "old terms append" \/ g.term = term[s]
  /\ Unused(g)
  /\ Settle(g, DOMAIN g.at, g.addr)
  /\ UNCHANGED <<epoch, seq, grants, records, holes, sealed, closing, closed, term, tx>>

(* The shard is the arbiter of its own tokens: it logs that this one will never be used. *)
Never(g) ==
  LET s == Home[CallOn[g.who]] IN
  /\ g \in grants /\ g.who \in Calls
  /\ g.addr[1] = sealed[s]
  /\ Unused(g)
  /\ Settle(g, DOMAIN g.at, Hole)
  /\ UNCHANGED <<epoch, seq, grants, records, holes, sealed, closing, closed, term, tx>>

NewTerm(s) ==
  /\ term[s] < TermMax
  /\ term' = [term EXCEPT ![s] = @ + 1]
  /\ UNCHANGED <<epoch, seq, grants, records, holes, sealed, closing, closed, stream, tx>>

-----------------------------------------------------------------------------
(* The sequencer *)

(* It keeps a bounded number of streams in mind. One that has an address under way must stay: its
   shard could not tell. *)
Forget(x) ==
  /\ Forgetting
  /\ Active /\ x \in seq.known
  /\ \/ Fault = "streams forgotten while under way"
     \/ \A g \in grants : g.addr[1] = epoch /\ x \in DOMAIN g.at => stream[x][g.at[x]] # Empty
  /\ seq' = [seq EXCEPT !.known = @ \ {x}, !.changes[x] = {}, !.used[x] = 0]
  /\ UNCHANGED <<epoch, grants, records, holes, sealed, closing, closed, term, stream, tx>>

Ask(x) ==
  /\ Active /\ x \notin seq.known
  /\ seq' = [seq EXCEPT !.known = @ \union {x},
                        !.changes[x] = {Later(Entries(x))}, !.used[x] = Top(x)]
  /\ UNCHANGED <<epoch, grants, records, holes, sealed, closing, closed, term, stream, tx>>

(* The sequencer is lost, at any moment; the layout raises the epoch. *)
NewEpoch ==
  /\ epoch < EpochMax
  /\ epoch' = epoch + 1
  /\ seq' = Recovering
  /\ UNCHANGED <<grants, records, holes, sealed, closing, closed, term, stream, tx>>

GapsHoled(x) == [v \in Versions |->
  IF stream[x][v] = Empty /\ v < Top(x) THEN Hole ELSE stream[x][v]]

(* A seal is logged by the shard; it may come late, from a sequencer that is gone. *)
Seal(s, e) ==
  /\ e <= epoch /\ sealed[s] < e
  /\ sealed' = [sealed EXCEPT ![s] = e]
  /\ stream' = IF Fault = "gaps filled at the seal"
               THEN [x \in Streams |-> IF Home[x] = s THEN GapsHoled(x) ELSE stream[x]]
               ELSE stream
  /\ UNCHANGED <<epoch, seq, grants, records, holes, closing, closed, term, tx>>

AllSealed == \A s \in Shards : sealed[s] = epoch

(* All shards are sealed, so no record of an older epoch can come any more; and the log units have
   delivered all there are. Now what is missing below the top of a stream will never come. Holes
   must be delivered too: their versions are given to others if nobody has heard of them. *)
OrderClose ==
  /\ seq.phase = "recovering"
  /\ AllSealed
  /\ Fault = "closed before records are delivered" \/ \A g \in records : Delivered(g)
  /\ Fault = "closed before holes are delivered" \/ \A g \in holes : Delivered(g)
  /\ closing' = closing \union {epoch}
  /\ seq' = [seq EXCEPT !.phase = "closing"]
  /\ UNCHANGED <<epoch, grants, records, holes, sealed, closed, term, stream, tx>>

Close(s, e) ==
  /\ e \in closing
  /\ sealed[s] = e
  /\ closed[s] < e \/ Fault = "closed twice"
  /\ closed' = [closed EXCEPT ![s] = e]
  /\ stream' = [x \in Streams |-> IF Home[x] = s THEN GapsHoled(x) ELSE stream[x]]
  /\ UNCHANGED <<epoch, seq, grants, records, holes, sealed, closing, term, tx>>

(* The new sequencer begins to answer. It knows of each stream what the shard knows. *)
Activate ==
  /\ \/ /\ seq.phase = "closing"
        /\ \A s \in Shards : closed[s] = epoch
     \/ /\ Fault = "answers before older epochs are settled"
        /\ seq.phase = "recovering" /\ AllSealed
  /\ seq' = [Recovering EXCEPT
       !.phase = "active",
       !.next = 1 + Highest(UNION {{a[2] : a \in Entries(x)} : x \in Streams}
                            \union {g.addr[2] : g \in records \union holes}),
       !.changes = [x \in Streams |->
         IF Fault = "the window is forgotten" THEN {} ELSE {Later(Entries(x))}],
       !.used = [x \in Streams |-> Top(x)]]
  /\ UNCHANGED <<epoch, grants, records, holes, sealed, closing, closed, term, stream, tx>>

-----------------------------------------------------------------------------

Next ==
  \/ \E t \in Transactions :
       Begin(t) \/ Grant(t) \/ \E x \in Reads[t] : Check(t, x) \/ Read(t, x)
  \/ \E g \in grants :
       Record(g) \/ Fill(g) \/ \E s \in Shards : Deliver(g, s) \/ DeliverHole(g, s)
  \/ \E g \in grants : IF g.who \in Calls THEN Append(g) \/ Never(g) ELSE FALSE
  \/ \E k \in Calls : \E m \in 1..TermMax : Take(k, m)
  \/ \E x \in Streams : Forget(x) \/ Ask(x) \/ FillByAnybody(x)
  \/ \E s \in Shards : NewTerm(s) \/ \E e \in 1..EpochMax : Seal(s, e) \/ Close(s, e)
  \/ NewEpoch \/ OrderClose \/ Activate

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* What must hold *)

(* An address is issued once; what it holds, it holds for ever: an entry or a hole. *)
IssuedOnce == \A g, h \in grants : g.addr = h.addr => g = h

HoldsOneThing ==
  /\ records \intersect holes = {}
  /\ \A x \in Streams : \A v \in Versions : \A u \in Versions :
       IsEntry(stream[x][v]) /\ stream[x][u] = stream[x][v] => u = v

ForEver == [][ /\ records \subseteq records' /\ holes \subseteq holes'
               /\ \A x \in Streams : \A v \in Versions :
                    stream[x][v] # Empty => stream'[x][v] = stream[x][v] ]_vars

(* A part becomes visible only of a transaction that is committed; and no version of a committed
   one is a hole or somebody else's, whoever fills. *)
AllOrNone ==
  \A g \in grants : IsTransaction(g) =>
    /\ Appended(g) => g \in records
    /\ g \in records => \A x \in DOMAIN g.at : stream[x][g.at[x]] \in {Empty, g.addr}

(* A counter alone names an entry, over all epochs. *)
CountersAreUnique ==
  \A g, h \in grants : Committed(g) /\ Committed(h) /\ g.addr[2] = h.addr[2] => g = h

(* The order of a stream is that of the log. *)
StreamOrderIsLogOrder ==
  \A x \in Streams : \A u, v \in Versions :
    u < v /\ IsEntry(stream[x][u]) /\ IsEntry(stream[x][v]) =>
      Before(stream[x][u], stream[x][v]) /\ stream[x][u][2] < stream[x][v][2]

(* Between its start and its commit nothing changed that a transaction read or wrote: so all of
   them are as if executed one by one at their addresses. *)
Serializable ==
  \A g \in grants : IsTransaction(g) /\ Committed(g) =>
    \A h \in grants :
      /\ h # g
      /\ Committed(h)
      /\ DOMAIN h.at \intersect (Reads[g.who] \union Writes[g.who]) # {}
      => AtOrBefore(h.addr, g.from) \/ Before(g.addr, h.addr)

(* What was read at a start is all that will ever be there at or before it, so that several reads
   of one transaction fit together, be it doomed or not. *)
ReadsAreStable ==
  \A t \in Transactions : \A x \in DOMAIN tx[t].seen :
    tx[t].seen[x] = {g.addr : g \in {h \in grants :
      Committed(h) /\ x \in DOMAIN h.at /\ AtOrBefore(h.addr, tx[t].start)}}

(* No call and no transaction happens twice, however often it is tried. *)
Once == \A w \in Transactions \union Calls : \A g, h \in Granted(w) :
          Committed(g) /\ Committed(h) => g = h

(* A transaction that begins now sees all that was visible before: strictness. *)
TailCovers ==
  Active => \A x \in Streams : \A v \in 1..Dense(x) :
    IsEntry(stream[x][v]) => AtOrBefore(stream[x][v], Tail)

(* The sequencer that answers knows of every change: the conflict window is not forgotten. *)
WindowIsKnown ==
  Active => \A g \in grants : Committed(g) =>
    \A x \in DOMAIN g.at \intersect seq.known : AtOrBefore(g.addr, Later(seq.changes[x]))

(* Who was told that a transaction is refused can rely on it: it never happened, and never will. *)
RefusedForEver ==
  \A t \in Transactions : tx[t].phase = "refused" => \A g \in Granted(t) : ~Committed(g)

-----------------------------------------------------------------------------
(* What happens at last, when those who must act do: every address that was issued is settled, and
   what is committed becomes visible. *)

Fair ==
  /\ WF_vars(OrderClose) /\ WF_vars(Activate)
  /\ \A s \in Shards : WF_vars(Seal(s, epoch)) /\ WF_vars(Close(s, epoch))
  /\ WF_vars(\E g \in grants : Fill(g))
  /\ WF_vars(\E g \in grants : \E s \in Shards :
       (Deliver(g, s) \/ DeliverHole(g, s)) /\ stream' # stream)
  /\ WF_vars(\E g \in grants : IF g.who \in Calls THEN Never(g) ELSE FALSE)

FairSpec == Spec /\ Fair

Settled(g) == Delivered(g) \/ (g \notin records /\ \A s \in Shards : closed[s] > g.addr[1])

EveryAddressIsSettled ==
  \A e \in 1..EpochMax : \A c \in 1..CounterMax :
    (\E g \in grants : g.addr = <<e, c>>) ~>
      (\A g \in grants : g.addr = <<e, c>> => Settled(g))

TheCommittedBecomesVisible ==
  \A e \in 1..EpochMax : \A c \in 1..CounterMax :
    (\E g \in records : g.addr = <<e, c>>) ~>
      (\A g \in records : g.addr = <<e, c>> => \A x \in DOMAIN g.at : g.at[x] <= Dense(x))

TheSequencerAnswersAgain == (epoch = EpochMax) ~> Active

=============================================================================
