package stoa.timers;

import java.util.ArrayList;
import java.util.List;
import stoa.Accessor;
import stoa.Call;
import stoa.Shared;
import stoa.spi.CallContext;

/// Makes the calls of the timers of one part of a store.
@Shared(name = "stoa.Firing")
class FiringObject {
  // How often one call takes timers.
  private static final int ROUNDS = 4;
  private static final int FAILURE_CHARS_MAX = 500;

  /// The work of a firing.
  record Made(int calls, int failures) {}

  private long fired;

  protected FiringObject() {}

  /// Makes the calls that are due, one after the other: up to some hundred.
  ///
  /// Each is a nested call, which the log remembers: a run of this method that begins again after a
  /// crash makes none of them a second time. Nothing takes it back: the calls that it has made
  /// would stand. Their own time limits end those that take too long.
  ///
  /// @param timers the key of the [TimersObject] of the part
  Made fire(int timers) {
    CallContext.current().stand();
    TimersObject keeper = Call.get(TimersObject.class, timers);
    List<TimersObject.Failed> failures = List.of();
    int calls = 0;
    int failed = 0;
    for (int round = 0; round < ROUNDS; round++) {
      List<TimersObject.Due> due = keeper.take(round == 0, failures);
      if (due.isEmpty()) return new Made(calls, failed);
      failures = made(due);
      calls += due.size();
      failed += failures.size();
    }
    keeper.settle(failures);
    return new Made(calls, failed);
  }

  private List<TimersObject.Failed> made(List<TimersObject.Due> calls) {
    var failures = new ArrayList<TimersObject.Failed>();
    for (TimersObject.Due call : calls) {
      fired++;
      try {
        boolean isThere = CallContext.current().make(call.call());
        if (!isThere) failures.add(new TimersObject.Failed(call.id(), "it was deleted", true));
      } catch (VirtualMachineError broken) {
        throw broken; // of this process, and not of the call: the run begins again
      } catch (Throwable thrown) {
        // Of any class: a failure of the store itself stops this run at its next call.
        failures.add(new TimersObject.Failed(call.id(), text(thrown), false));
      }
    }
    return failures;
  }

  private static String text(Throwable thrown) {
    Class<?> type = thrown.getClass();
    String text = isOwnText(type) ? type.getName() : thrown.toString();
    return text.length() <= FAILURE_CHARS_MAX ? text : text.substring(0, FAILURE_CHARS_MAX);
  }

  /// Returns whether an exception is described by code of a user, which may throw, or never end.
  private static boolean isOwnText(Class<?> type) {
    for (Class<?> each = type; each != null && each.getClassLoader() != null; ) {
      for (String name : List.of("toString", "getMessage", "getLocalizedMessage")) {
        try {
          var _ = each.getDeclaredMethod(name);
          return true;
        } catch (NoSuchMethodException none) {
          // As its parent says.
        }
      }
      each = each.getSuperclass();
    }
    return false;
  }

  /// Returns how many calls it has made.
  @Accessor
  long fired() {
    return fired;
  }
}
