package stoa.indexes;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import stoa.Condition.Comparison;
import stoa.front.MethodRun;
import stoa.front.types.IndexForm;
import stoa.front.types.IndexedMember;

/// A condition over the values of an object, in the forms of their indexes. Immutable.
sealed interface Test {
  /// Every object meets it.
  Test TRUE = new All(List.of());

  /// A comparison of a field or accessor with the form of a value.
  record Of(String member, Comparison comparison, String value) implements Test {
    /// Returns the comparison with a value.
    ///
    /// @throws IllegalArgumentException when the value is of another class, or a prefix of no text
    ///   or a longer one than a query compares
    static Of of(IndexedMember member, Comparison comparison, @Nullable Object value) {
      boolean isPrefix = comparison == Comparison.PREFIX;
      IndexForm form = member.form();
      if (isPrefix && !form.isText()) {
        throw new IllegalArgumentException(member.shown() + " is no text, and has no prefixes");
      }
      String written = isPrefix ? form.encodePrefix(value) : form.encode(value);
      return new Of(member.name(), comparison, written);
    }

    @Override
    public boolean holds(MethodRun.Looked object) {
      String here = object.value(member);
      return switch (comparison) {
        case EQUAL -> here.equals(value);
        case LESS -> here.compareTo(value) < 0;
        case AT_MOST -> here.compareTo(value) <= 0;
        case GREATER -> here.compareTo(value) > 0;
        case AT_LEAST -> here.compareTo(value) >= 0;
        case PREFIX -> here.startsWith(value);
      };
    }

    @Override
    public void write(List<String> out) {
      out.add(comparison.name());
      out.add(member);
      out.add(value);
    }

    @Override
    public void addMembers(Set<String> members) {
      members.add(member);
    }
  }

  /// All of some tests.
  record All(List<Test> tests) implements Test {
    @Override
    public boolean holds(MethodRun.Looked object) {
      for (Test test : tests) if (!test.holds(object)) return false;
      return true;
    }

    @Override
    public void write(List<String> out) {
      write("ALL", tests, out);
    }

    @Override
    public void addMembers(Set<String> members) {
      for (Test test : tests) test.addMembers(members);
    }

    private static void write(String name, List<Test> tests, List<String> out) {
      out.add(name);
      out.add(Integer.toString(tests.size()));
      for (Test test : tests) test.write(out);
    }
  }

  /// One of some tests.
  record Any(List<Test> tests) implements Test {
    @Override
    public boolean holds(MethodRun.Looked object) {
      for (Test test : tests) if (test.holds(object)) return true;
      return false;
    }

    @Override
    public void write(List<String> out) {
      All.write("ANY", tests, out);
    }

    @Override
    public void addMembers(Set<String> members) {
      for (Test test : tests) test.addMembers(members);
    }
  }

  /// The opposite of a test.
  record Not(Test test) implements Test {
    @Override
    public boolean holds(MethodRun.Looked object) {
      return !test.holds(object);
    }

    @Override
    public void write(List<String> out) {
      out.add("NOT");
      test.write(out);
    }

    @Override
    public void addMembers(Set<String> members) {
      test.addMembers(members);
    }
  }

  /// Returns whether an object meets it.
  boolean holds(MethodRun.Looked object);

  /// Adds the fields and accessors that it compares.
  void addMembers(Set<String> members);

  /// Adds it to a list of texts, from which [#read] reads it.
  void write(List<String> out);

  /// Reads what [#write] has written.
  static Test read(Iterator<String> in) {
    String kind = in.next();
    return switch (kind) {
      case "ALL" -> new All(several(in));
      case "ANY" -> new Any(several(in));
      case "NOT" -> new Not(read(in));
      default -> new Of(in.next(), Comparison.valueOf(kind), in.next());
    };
  }

  private static List<Test> several(Iterator<String> in) {
    var tests = new ArrayList<Test>();
    for (int left = Integer.parseInt(in.next()); left > 0; left--) tests.add(read(in));
    return List.copyOf(tests);
  }
}
