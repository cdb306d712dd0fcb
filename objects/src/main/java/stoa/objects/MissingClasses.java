package stoa.objects;

import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;
import stoa.base.StreamId;
import stoa.front.ClassNames;
import stoa.log.Streams;

/// The shared classes of which the log of a replica tells, and that are not on its class path. One
/// owner uses it.
///
/// It reads the log alone, so that it serves whoever leads and whoever follows.
public final class MissingClasses {
  private final Streams streams;
  private final ClassLoader loader;
  private final Set<String> found = new HashSet<>();
  private long read;

  /// By the stored name of a type, the class that it had last; of those types only of which no
  /// class was found under any of its names.
  private final Map<String, String> missing = new LinkedHashMap<>();

  /// @param streams what the replica shows
  /// @param loader finds the classes of this process
  public MissingClasses(Streams streams, ClassLoader loader) {
    this.streams = streams;
    this.loader = loader;
  }

  /// Takes in what was logged since it was asked last; answers all that is missing, as `TYPE
  /// (CLASS)`.
  public NavigableSet<String> look() {
    StreamId stream = Dictionary.KEY.stream();
    long last = streams.last(stream);
    if (last > read) {
      streams.scan(
          stream,
          read + 1,
          last,
          entry -> {
            take(new String(entry.payload(), StandardCharsets.UTF_8));
            return true;
          });
      read = last;
    }
    var names = new TreeSet<String>();
    missing.forEach((type, className) -> names.add(type + " (" + className + ")"));
    return names;
  }

  private void take(String name) {
    // What is stored under a name of its own has two words; a class of values has one, and may be
    // gone.
    int end = name.lastIndexOf(' ');
    if (!name.startsWith(ClassNames.CLASS) || end < ClassNames.CLASS.length()) return;
    String type = name.substring(ClassNames.CLASS.length(), end);
    String className = name.substring(end + 1);
    if (isHere(className)) found.add(type);
    if (found.contains(type)) missing.remove(type);
    else missing.put(type, className);
  }

  private boolean isHere(String className) {
    try {
      var _ = Class.forName(className, false, loader);
      return true;
    } catch (ClassNotFoundException | LinkageError gone) {
      return false;
    }
  }
}
