package stoa.objects;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import stoa.Corrupt;
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
   * First come the calls that need an answer: the claims of unique values, behind those that free a
   * value which another entry claims in the same put. Each of them has a reverse. The others are
   * left to the store, or made as calls, where it takes none.
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
    var claimed = new HashSet<Value>();
    for (Entered.Change change : changes.entries()) {
      if (change.isClaim()) claimed.add(Value.of(change));
    }
    var asked = new ArrayList<Entered.Change>();
    var claims = new ArrayList<Entered.Change>();
    var rest = new ArrayList<Entered.Change>();
    for (Entered.Change change : changes.entries()) {
      if (change.isClaim()) claims.add(change);
      else if (!change.enters() && claimed.contains(Value.of(change))) asked.add(change);
      else rest.add(change);
    }
    asked.addAll(claims);
    var made = new ArrayList<Entered.Change>();
    try {
      for (Entered.Change change : asked) {
        make(change);
        made.add(change);
      }
      for (String id : changes.lost()) lose(id);
      if (execution.mayLeave() && !execution.knowsNext()) leave(rest);
      else makeAll(rest, made);
    } catch (StoaException refused) {
      takeBack(made);
      throw refused;
    }
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
  private void makeAll(List<Entered.Change> changes, List<Entered.Change> made) {
    if (changes.size() <= SINGLE_MAX) {
      for (Entered.Change change : changes) {
        make(change);
        made.add(change);
      }
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
        made.addAll(some);
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

  private void make(Entered.Change change) {
    if (!change.enters()) {
      remove(change);
      return;
    }
    String other = enter(change);
    if (other != null) throw notUnique(change, other);
  }

  private void takeBack(List<Entered.Change> made) {
    try {
      for (Entered.Change change : made.reversed()) {
        if (change.enters()) {
          remove(change);
        } else if (enter(new Entered.Change(change.index(), change.value(), true, change.entry()))
            != null) {
          throw new NotUnique(name(change) + " has gone to another entry");
        }
      }
    } catch (StoaException refused) {
      throw execution.suspend(refused); // no answer would be true
    }
  }

  private @Nullable String enter(Entered.Change change) {
    return within(() ->
        indexes()
            .enter(stoa, owner, change.index(), change.isClaim(), change.value(), change.entry()));
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
    try {
      return form == null ? "such a record" : form.decode(change.value());
    } catch (Corrupt cut) {
      return change.value();
    }
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
