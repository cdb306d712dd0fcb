package stoa.sim.scenario;

import java.util.List;
import stoa.sim.check.TransactionHistory;
import stoa.sim.world.SimulatedShelf;

/// The calls that transactions make on a [SimulatedShelf], as a [TransactionHistory] records them.
public final class ShelfSteps {
  /// The names of the lists.
  public static final List<String> LISTS = List.of("shelf 0", "shelf 1", "shelf 2", "shelf 3");

  /// How many different calls there are.
  public static final int STEPS = 8;

  /// The step that reads a list.
  public static final int READ = 0;

  /// The step that adds to a list.
  public static final int ADD = 4;

  /// The step that adds to all lists.
  public static final int ADD_TO_ALL = 6;

  private ShelfSteps() {}

  /// Returns whether a call commutes with other additions.
  public static boolean isAddition(int step) {
    return step >= ADD && step <= ADD_TO_ALL;
  }

  /// Returns whether a call changes a list and returns it.
  public static boolean isAppend(int step) {
    return step == 2 || step == 3;
  }

  /// Makes a call.
  ///
  /// @param step which one, from 0 to [#STEPS], exclusive
  /// @param list one of [#LISTS]
  /// @param element what it adds, if it does
  public static void run(
      SimulatedShelf shelf, int step, String list, String element, TransactionHistory.Open open) {
    switch (step) {
      case 0, 1 -> open.read(list, shelf.elements(list));
      case 2, 3 -> {
        open.append(list, element);
        open.read(list, shelf.append(list, element));
      }
      case 4, 5 -> {
        open.append(list, element);
        shelf.add(list, element);
      }
      case 6 -> {
        for (String one : LISTS) open.append(one, element);
        shelf.addToAll(LISTS, element);
      }
      default -> {
        var all = shelf.all();
        for (String one : LISTS) open.read(one, all.getOrDefault(one, List.of()));
      }
    }
  }
}
