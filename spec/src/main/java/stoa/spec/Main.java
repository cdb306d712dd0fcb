package stoa.spec;

import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/// Checks the specification from the command line.
///
/// ```text
/// Main [--large] [WORLD | FAULT]...
/// ```
///
/// Without names all small worlds and all faults are checked, with `--large` the large worlds too.
/// A fault that is named is shown with the run that goes wrong.
public final class Main {
  private static final Duration TIME_MAX = Duration.ofHours(2);

  private Main() {}

  /// Ends the process with 0 when the worlds hold and the faults are refuted, with 1 when not, and
  /// with 2 when the arguments make no sense.
  public static void main(String[] args) {
    var names = new ArrayList<>(List.of(args));
    boolean large = names.remove("--large");
    var worlds = new ArrayList<World>();
    var faults = new ArrayList<Fault>();
    if (names.isEmpty()) {
      worlds.addAll(World.SMALL);
      if (large) worlds.addAll(World.LARGE);
      faults.addAll(Fault.ALL);
    }
    for (String name : names) {
      all().filter(world -> world.name().equals(name)).forEach(worlds::add);
      Fault.ALL.stream().filter(fault -> fault.name().equals(name)).forEach(faults::add);
    }
    if (worlds.size() + faults.size() < names.size()) {
      System.err.println("there are the worlds " + all().map(World::name).toList());
      System.err.println("and the faults " + Fault.ALL.stream().map(Fault::name).toList());
      System.exit(2);
    }
    System.exit(well(worlds, faults, names.isEmpty(), System.out) ? 0 : 1);
  }

  private static Stream<World> all() {
    return Stream.concat(World.SMALL.stream(), World.LARGE.stream());
  }

  private static boolean well(
      List<World> worlds, List<Fault> faults, boolean brief, PrintStream out) {
    boolean well = true;
    for (var world : worlds) well &= well(world, out);
    for (var fault : faults) well &= well(fault, brief, out);
    return well;
  }

  private static boolean well(World world, PrintStream out) {
    return switch (ModelCheck.of(world, TIME_MAX)) {
      case ModelCheck.Result.Holds(long states) -> {
        out.printf(Locale.ROOT, "%-14s holds in %,d states%n", world.name(), states);
        yield states >= world.statesMin();
      }
      case ModelCheck.Result.Refuted(_, String broken, String run) -> {
        out.printf("%-14s FAILS: %s%n%s%n", world.name(), broken, run);
        yield false;
      }
      case ModelCheck.Result.Failed(_, String output) -> {
        out.printf("%-14s FAILS%n%s%n", world.name(), output);
        yield false;
      }
    };
  }

  private static boolean well(Fault fault, boolean brief, PrintStream out) {
    return switch (ModelCheck.of(fault, TIME_MAX)) {
      case ModelCheck.Result.Refuted(long states, String broken, String run) -> {
        out.printf(Locale.ROOT, "%-40s breaks %s after %,d states%n", fault.name(), broken, states);
        if (!brief) out.println(run);
        yield broken.equals(fault.broken());
      }
      case ModelCheck.Result.Holds(long states) -> {
        out.printf(Locale.ROOT, "%-40s IS NOT NOTICED in %,d states%n", fault.name(), states);
        yield false;
      }
      case ModelCheck.Result.Failed(_, String output) -> {
        out.printf("%-40s FAILS%n%s%n", fault.name(), output);
        yield false;
      }
    };
  }
}
