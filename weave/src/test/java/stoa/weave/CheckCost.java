package stoa.weave;

import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/// Measures what checks cost: run it with the classes of stoa-api and stoa-weave on the class path.
final class CheckCost {
  private static final String SOURCE =
      """
      import java.util.*;

      public class Work {
        /* One addition a turn: the loop that a check weighs most in. */
        public static long tight(int turns) {
          long sum = 0;
          for (long i = 0; i < turns; i++) sum += i ^ (sum >>> 3);
          return sum;
        }

        /* A loop over an array, which the compiler would turn into vector instructions. */
        static final int[] NUMBERS = new int[4096];
        public static long array(int turns) {
          long sum = 0;
          for (int t = 0; t < turns / 4096; t++) for (int n : NUMBERS) sum += n;
          return sum;
        }

        /* What a method of an object does: looks into a map, counts, makes a value. */
        record Entry(String name, long amount) {}
        public static long method(int turns) {
          var accounts = new HashMap<Integer, Entry>();
          long sum = 0;
          for (int i = 0; i < turns / 16; i++) sum += deposit(accounts, i & 1023, i);
          return sum;
        }
        static long deposit(Map<Integer, Entry> accounts, int key, long amount) {
          Entry before = accounts.get(key);
          Entry after = new Entry("account", (before == null ? 0 : before.amount()) + amount);
          accounts.put(key, after);
          return after.amount();
        }

        public static long recursion(int turns) { return fibonacci(27); }
        static long fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
      }
      """;

  private static final int TURNS = 1 << 22;

  private CheckCost() {}

  private static void refuse(String unwoven) {
    throw new IllegalStateException(unwoven);
  }

  public static void main(String[] args) throws Exception {
    Path folder = Compiled.compile(Files.createTempDirectory("cost"), "Work", SOURCE);
    for (String name : List.of("tight", "array", "method", "recursion")) {
      try (var plain = new URLClassLoader(new URL[] {folder.toUri().toURL()});
          var woven = UserClasses.open(List.of(folder), CheckCost::refuse)) {
        Method before = Class.forName("Work", true, plain).getMethod(name, int.class);
        Method after = Class.forName("Work", true, woven).getMethod(name, int.class);
        double[] first = new double[60];
        double[] second = new double[60];
        for (int i = 0; i < first.length; i++) {
          first[i] = nanos(before);
          second[i] = nanos(after);
        }
        Arrays.sort(first);
        Arrays.sort(second);
        System.out.printf(
            "%-10s plain %8.3f ms  woven %8.3f ms  x %.2f%n",
            name, first[12] / 1e6, second[12] / 1e6, second[12] / first[12]);
      }
    }
  }

  private static double nanos(Method method) throws ReflectiveOperationException {
    long began = System.nanoTime();
    var _ = method.invoke(null, TURNS);
    return System.nanoTime() - began;
  }
}
