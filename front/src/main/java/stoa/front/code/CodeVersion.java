package stoa.front.code;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.LimitExceeded;
import stoa.base.StreamId;

/// A version of the code of a shared class: the class files that determine the results of calls on
/// its objects, and a name for exactly these files.
///
/// The files are those of the class itself and of all classes that its bytecode reaches outside the
/// JDK and Stoa. A change of source lines only, or of the other classes nested beside it, makes no
/// new version. Classes that only reflection finds belong to no version. When all files together
/// exceed the limits, the version leaves out libraries: classes in other jar files or directories
/// than the class. Immutable, thread-safe.
public final class CodeVersion {
  private static final Logger LOG = LoggerFactory.getLogger(CodeVersion.class);

  /// The most class files of a version.
  public static final int FILES_MAX = 4_096;

  /// The most bytes of these files.
  public static final int BYTES_MAX = 32 << 20;

  private static final ClassValue<CodeVersion> VERSIONS =
      new ClassValue<>() {
        @Override
        protected CodeVersion computeValue(Class<?> type) {
          return new CodeVersion(type);
        }
      };

  private final Class<?> type;
  private final @Nullable StreamId name;
  private final Set<String> files;
  private final Set<String> reached;
  private final boolean libraries;

  private CodeVersion(Class<?> type) {
    this.type = type;
    var essences = new TreeMap<String, byte[]>();
    boolean whole = true;
    Set<String> found;
    try {
      found = read(type, true, essences).keySet();
    } catch (LimitExceeded tooMuch) {
      essences.clear();
      whole = false;
      found = read(type, false, essences).keySet();
      LOG.warn("{}; its version has none of the libraries that it uses", tooMuch.getMessage());
    }
    this.libraries = whole;
    this.files = Set.copyOf(found);
    this.reached = Set.copyOf(essences.keySet());
    this.name = essences.isEmpty() ? null : name(essences);
  }

  /// Returns the version of a class in this process.
  ///
  /// @param type the class that is instantiated
  /// @throws LimitExceeded when it reaches more code than a version may have
  public static CodeVersion of(Class<?> type) {
    return VERSIONS.get(type);
  }

  /// Returns its name, the same for the same files in every process; null for classes of Stoa
  /// itself, and for classes without files.
  public @Nullable StreamId name() {
    return name;
  }

  /// Returns whether a class is part of it.
  public boolean has(String className) {
    return files.contains(className);
  }

  /// Reads the class files, by the binary names of their classes.
  public SortedMap<String, byte[]> files() {
    var read = read(type, libraries, new TreeMap<>());
    read.keySet().retainAll(files);
    return read;
  }

  /// Reads the class files of the classes that the bytecode reaches, as [#files]. The others are
  /// there for the private members of nested classes alone, and no code of theirs runs.
  public SortedMap<String, byte[]> reached() {
    var read = read(type, libraries, new TreeMap<>());
    read.keySet().retainAll(reached);
    return read;
  }

  private static StreamId name(SortedMap<String, byte[]> essences) {
    var text = new StringBuilder();
    essences.forEach((className, essence) ->
        text.append(className).append(' ').append(StreamId.of(essence)).append('\n'));
    return StreamId.of(text.toString());
  }

  /// Reads the files of a class and of all classes that it reaches.
  ///
  /// @param libraries whether to include other jar files or directories
  /// @param essences receives the relevant parts of the files
  private static SortedMap<String, byte[]> read(
      Class<?> type, boolean libraries, SortedMap<String, byte[]> essences) {
    var classes = new ClassFiles(type.getClassLoader());
    var found = new TreeMap<String, byte[]>();
    var hosts = new TreeSet<String>();
    var waiting = new ArrayDeque<String>(List.of(type.getName().replace('.', '/')));
    var seen = new TreeSet<String>(waiting);
    String root = null;
    int bytes = 0;
    while (!waiting.isEmpty()) {
      String next = waiting.remove();
      ClassFiles.Found file = classes.find(next);
      if (file == null) continue;
      if (root == null) root = file.root();
      else if (!libraries && !file.root().equals(root)) continue;
      String className = next.replace('/', '.');
      found.put(className, file.bytes());
      bytes += file.bytes().length;
      if (found.size() > FILES_MAX || bytes > BYTES_MAX) throw tooMuch(type, found.size(), bytes);
      var names = new TreeSet<String>();
      essences.put(className, ClassFiles.essence(file.bytes(), names, hosts));
      for (String name : names) {
        if (seen.add(name)) waiting.add(name);
      }
    }
    // The JVM asks the host of a nested class whether the class may see private members of others.
    for (String host : hosts) {
      ClassFiles.Found file = seen.contains(host) ? null : classes.find(host);
      if (file != null) found.put(host.replace('/', '.'), file.bytes());
    }
    return found;
  }

  private static LimitExceeded tooMuch(Class<?> type, int files, int bytes) {
    return new LimitExceeded(
        type.getName()
            + " reaches "
            + files
            + " classes of "
            + bytes
            + " bytes or more outside the JDK and Stoa, and the store keeps "
            + FILES_MAX
            + " classes of "
            + BYTES_MAX
            + " bytes for one shared class at most; move the use of large libraries out of it");
  }

  @Override
  public String toString() {
    return "the code of " + type.getName() + (name == null ? "" : " in version " + name);
  }
}
