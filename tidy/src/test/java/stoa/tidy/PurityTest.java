package stoa.tidy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;
import stoa.tidy.Purity.Edge;
import stoa.tidy.Purity.World;

class PurityTest {
  static final class Pure {
    long twice(long n) {
      return new Random(n).nextLong() * 2 + Arrays.hashCode(new long[] {n});
    }
  }

  static final class ReadsTheClock {
    long now() {
      return System.nanoTime();
    }
  }

  static final class PassesTheClock {
    LongSupplier clock() {
      return System::currentTimeMillis;
    }
  }

  static final class StartsAThread {
    void start() {
      Thread.ofVirtual().start(() -> {});
    }

    static final class Inner {
      Thread me() {
        return Thread.currentThread();
      }
    }
  }

  static final class ReadsAFile {
    boolean there(Path path) {
      return Files.exists(path);
    }
  }

  static final class DrawsLots {
    String id() {
      return UUID.randomUUID() + " " + new Random().nextInt();
    }
  }

  @Test
  void seesNothingInAPureClass() throws IOException {
    assertEquals(List.of(), problems(List.of(), Pure.class));
  }

  @Test
  void seesEachPartOfTheWorld() throws IOException {
    assertEquals(Set.of(World.CLOCK), touched(ReadsTheClock.class));
    assertEquals(Set.of(World.CLOCK), touched(PassesTheClock.class));
    assertEquals(Set.of(World.THREAD), touched(StartsAThread.class));
    assertEquals(Set.of(World.FILE), touched(ReadsAFile.class));
    assertEquals(Set.of(World.RANDOMNESS), touched(DrawsLots.class));
  }

  @Test
  void namesTheClassTheMembersAndTheRemedy() throws IOException {
    assertEquals(
        List.of(
            DrawsLots.class.getName()
                + " touches RANDOMNESS through Random.<init>, UUID.randomUUID;"
                + " pass it in, or declare an edge with its reason"),
        problems(List.of(), DrawsLots.class));
  }

  @Test
  void letsAnEdgeTouchWhatItDeclaresAndNothingElse() throws IOException {
    var clock = Edge.of(ReadsTheClock.class.getName(), "its turn's clock", World.CLOCK);
    assertEquals(List.of(), problems(List.of(clock), ReadsTheClock.class));
    assertEquals(1, problems(List.of(clock), ReadsTheClock.class, PassesTheClock.class).size());
    var file = Edge.of(ReadsTheClock.class.getName(), "wrong", World.FILE);
    assertEquals(2, problems(List.of(file), ReadsTheClock.class).size());
  }

  @Test
  void countsNestedClassesToTheirEdge() throws IOException {
    var edge = Edge.of(StartsAThread.class.getName(), "the worker", World.THREAD);
    assertEquals(
        List.of(), problems(List.of(edge), StartsAThread.class, StartsAThread.Inner.class));
  }

  @Test
  void refusesAnEdgeThatIsNoLongerOne() throws IOException {
    var stale = Edge.of(Pure.class.getName(), "it had a thread once", World.THREAD);
    List<String> problems = problems(List.of(stale), Pure.class);
    assertEquals(1, problems.size());
    assertTrue(problems.getFirst().contains("no longer touches [THREAD]"), problems.getFirst());
  }

  private static List<String> problems(List<Edge> edges, Class<?>... types) throws IOException {
    var classes = new java.util.ArrayList<byte[]>();
    for (Class<?> type : types) classes.add(bytes(type));
    return Purity.problems(classes, edges);
  }

  private static Set<World> touched(Class<?> type) throws IOException {
    return Purity.touched(ClassFile.of().parse(bytes(type))).keySet();
  }

  private static byte[] bytes(Class<?> type) throws IOException {
    String file = type.getName().substring(type.getPackageName().length() + 1) + ".class";
    try (var in = type.getResourceAsStream(file)) {
      return java.util.Objects.requireNonNull(in, file).readAllBytes();
    }
  }
}
