package stoa.objects;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import stoa.NotUnique;
import stoa.StoaException;
import stoa.front.SharedStoa;
import stoa.front.types.IndexForm;
import stoa.front.types.Keys;
import stoa.spi.CallContext;
import stoa.spi.Collections;
import stoa.spi.Entered;
import stoa.spi.Indexes;
import stoa.store.running.Execution;

/// Changes the indexes for one put of an object that keeps entries in them, as [Indexing] does for
/// the one entry of an ordinary object. The thread that executes the put uses it.
final class Entering {
  /*
   * First come the calls that need an answer: the claims of unique values. A value that goes from
   * one entry to another is passed on in front of them, and belongs to one of the two all the time:
   * were it free meanwhile, an entry of another object of the same map could claim it, and nothing
   * could give it back when a later claim is refused. Each of these calls has a reverse, which no
   * index refuses. The others are left to the store, or made as calls, where it takes none; those
   * that free a unique value come last.
   */

  // From more changes on, those of one part are one call, which is not told apart by its values.
  private static final int SINGLE_MAX = 32;

  // The most changes of one call.
  private static final int CHANGES_MAX = 512;

  private final SharedStoa stoa;
  private final IndexChanges indexChanges;
  private final Execution execution;
  private final ObjectContext context;
  private final String owner;
  private boolean stands;

  /// @param owner the name under which the indexes are kept
  Entering(
      SharedStoa stoa,
      IndexChanges indexChanges,
      Execution execution,
      ObjectContext context,
      String owner) {
    this.stoa = stoa;
    this.indexChanges = indexChanges;
    this.execution = execution;
    this.context = context;
    this.owner = owner;
  }

  /// A change that was made.
  ///
  /// @param receiver the change of the entry to which the value goes; null when it goes to none
  /// @param isPassed whether the receiver has the value; else it has it only where the index lacked
  ///   the entry of the change
  private record Made(Entered.Change change, Entered.@Nullable Change receiver, boolean isPassed) {
    static Made alone(Entered.Change change) {
      return new Made(change, null, false);
    }
  }

  /// A value of an index.
  private record Value(String index, String form) {
    static Value of(Entered.Change change) {
      return new Value(change.index(), change.value());
    }
  }

  /// Makes changes, or leaves them to the store. When one is refused, it takes the others back.
  ///
  /// @throws NotUnique when another entry has one of the values
  /// @throws StoaException when the store refuses a call
  void apply(Entered.Changes changes) {
    var receivers = new HashMap<Value, Entered.Change>();
    for (Entered.Change change : changes.entries()) {
      if (change.isClaim()) receivers.putIfAbsent(Value.of(change), change);
    }
    var claims = new ArrayList<Entered.Change>();
    var rest = new ArrayList<Entered.Change>();
    var made = new ArrayList<Made>();
    var passed = new HashSet<Entered.Change>();
    try {
      for (Entered.Change change : changes.entries()) {
        if (change.isClaim()) {
          claims.add(change);
          continue;
        }
        Entered.Change receiver = change.enters() ? null : receivers.get(Value.of(change));
        if (receiver == null) rest.add(change);
        else if (pass(change, receiver, made)) passed.add(receiver);
      }
      for (Entered.Change claim : claims) if (!passed.contains(claim)) makeOne(claim, made);
      for (String id : changes.lost()) lose(id);
      if (execution.mayLeave() && !execution.knowsNext()) leave(rest);
      else makeAll(rest, made);
    } catch (StoaException refused) {
      takeBack(made);
      throw refused;
    }
  }

  /// Passes a unique value on to another entry, unless the first call's answer is empty. Then
  /// either the log is of an earlier version of the store, whose first call has freed the value; or
  /// the index lacks the entry that has the value, and the other one has it from now on. Both make
  /// the same calls, so that their positions are those in the log.
  ///
  /// @param left the change of the entry that has the value
  /// @param made gets what is made
  /// @return whether the other entry has it, so that its claim is made
  private boolean pass(Entered.Change left, Entered.Change receiver, List<Made> made) {
    String holder = enter(receiver);
    if (holder == null) {
      made.add(new Made(left, receiver, false));
      return false;
    }
    if (!holder.equals(left.entry())) throw notUnique(receiver, holder);
    made.add(new Made(left, receiver, true)); // first, since taking back half of it does no harm
    add(receiver);
    remove(left);
    return true;
  }

  private void leave(List<Entered.Change> changes) {
    if (changes.isEmpty()) return;
    execution.leave(sequel -> {
      for (Entered.Change change : changes) indexChanges.begin(owner, change, sequel);
    });
  }

  /// Makes changes that cannot be refused for a value.
  ///
  /// @param made gets those that are made
  private void makeAll(List<Entered.Change> changes, List<Made> made) {
    if (changes.size() <= SINGLE_MAX) {
      for (Entered.Change change : changes) if (!frees(change)) makeOne(change, made);
      for (Entered.Change change : changes) if (frees(change)) makeOne(change, made);
      return;
    }
    var parts = new TreeMap<String, List<Entered.Change>>();
    for (Entered.Change change : changes) {
      String part = indexes().partOf(change.value()) + " " + change.index();
      parts.computeIfAbsent(part, _ -> new ArrayList<>()).add(change);
    }
    for (Map.Entry<String, List<Entered.Change>> part : parts.entrySet()) {
      List<Entered.Change> all = part.getValue();
      for (int from = 0; from < all.size(); from += CHANGES_MAX) {
        List<Entered.Change> some = all.subList(from, Math.min(all.size(), from + CHANGES_MAX));
        makeOnce(some);
        for (Entered.Change change : some) made.add(Made.alone(change));
      }
    }
  }

  private void makeOnce(List<Entered.Change> some) {
    var texts = new ArrayList<String>(2 * some.size());
    for (Entered.Change change : some) {
      texts.add((change.enters() ? Indexes.ENTERS : Indexes.LEAVES) + change.value());
      texts.add(change.entry());
    }
    Entered.Change first = some.getFirst();
    var _ =
        within(() -> {
          indexes().change(stoa, owner, first.index(), first.value(), texts);
          return "";
        });
  }

  /// Returns whether other entries may have a value after a change that this one has before it.
  private static boolean frees(Entered.Change change) {
    return !change.enters() && change.isUnique() && !change.value().isEmpty();
  }

  private void makeOne(Entered.Change change, List<Made> made) {
    make(change);
    made.add(Made.alone(change));
  }

  private void make(Entered.Change change) {
    if (!change.enters()) {
      remove(change);
      return;
    }
    String other = enter(change);
    if (other != null) throw notUnique(change, other);
  }

  private void takeBack(List<Made> made) {
    try {
      for (Made one : made.reversed()) takeBack(one);
    } catch (StoaException refused) {
      throw execution.suspend(refused); // no answer would be true
    }
  }

  private void takeBack(Made made) {
    Entered.Change change = made.change;
    Entered.Change receiver = made.receiver;
    if (receiver != null && made.isPassed) {
      add(change);
      remove(receiver);
    } else if (change.enters()) {
      remove(change);
    } else {
      claimAgain(change, receiver);
    }
  }

  /// Gives a value back to the entry that a change has taken it from.
  ///
  /// @param receiver the change of the entry to which the value should go; null for none
  private void claimAgain(Entered.Change change, Entered.@Nullable Change receiver) {
    String holder = enter(new Entered.Change(change.index(), change.value(), true, change.entry()));
    if (holder == null) return;
    if (receiver == null) throw new NotUnique(name(change) + " has gone to another entry");
    // The index lacked the entry before.
    if (holder.equals(receiver.entry())) {
      add(change);
      remove(receiver);
    } else {
      lose(change.index());
    }
  }

  /// Adds the entry of a change to those of its value, whatever entry has it.
  private void add(Entered.Change change) {
    var _ = within(() -> enter(change, false));
  }

  private @Nullable String enter(Entered.Change change) {
    return within(() -> enter(change, change.isClaim()));
  }

  private @Nullable String enter(Entered.Change change, boolean isClaim) {
    return indexes().enter(stoa, owner, change.index(), isClaim, change.value(), change.entry());
  }

  private void remove(Entered.Change change) {
    var _ =
        within(() -> {
          indexes().leave(stoa, owner, change.index(), change.value(), change.entry());
          return "";
        });
  }

  private void lose(String id) {
    var _ =
        within(() -> {
          indexes().lostEntry(stoa, owner, id);
          return "";
        });
  }

  private static Indexes indexes() {
    return Collections.installed().indexes();
  }

  private @Nullable String within(Callable<@Nullable String> call) {
    if (!stands) {
      execution.awaitSequels();
      execution.stand();
      stands = true;
    }
    try {
      return ScopedValue.where(CallContext.CURRENT, context).call(call::call);
    } catch (RuntimeException passedOn) {
      throw passedOn;
    } catch (Exception checked) {
      throw new IllegalStateException(checked);
    }
  }

  // ---- words

  private static String name(Entered.Change change) {
    return change.index().split(" ", -1)[1];
  }

  private static @Nullable Object shown(Entered.Change change) {
    IndexForm form = IndexForm.named(change.index().split(" ", -1)[2]);
    return form == null ? "such a record" : form.shown(change.value());
  }

  private Object key(String entry) {
    byte[] key = entry.getBytes(StandardCharsets.ISO_8859_1);
    return Keys.decode(key, context.code().loader());
  }

  private NotUnique notUnique(Entered.Change change, String other) {
    return new NotUnique(
        owner.substring(owner.indexOf(' ') + 1)
            + ": the value of \""
            + key(change.entry())
            + "\" cannot have \""
            + shown(change)
            + "\" as its "
            + name(change)
            + ", since that of \""
            + key(other)
            + "\" has it; choose another value, or change that entry first");
  }
}
