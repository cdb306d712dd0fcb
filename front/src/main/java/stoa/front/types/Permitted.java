package stoa.front.types;

import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The classes of the JDK and of Stoa, and their members, that deployed code may use. All others
/// are refused, also those of later JDKs.
///
/// The permitted members have no way to files, networks, processes, threads, class loaders or
/// reflection, and change nothing of the process. [ForbiddenMethods] refuses members for another
/// reason: their results would differ in a replay.
final class Permitted {
  private static final String CALLER = "do it in the caller and pass the result as an argument";

  // Packages whose classes are permitted as a whole.
  private static final Set<String> PACKAGES =
      Set.of(
          "java/lang/annotation",
          "java/math",
          "java/nio/charset",
          "java/text",
          "java/time",
          "java/time/chrono",
          "java/time/format",
          "java/time/temporal",
          "java/util/concurrent/atomic",
          "java/util/function",
          "java/util/random",
          "java/util/regex",
          "java/util/stream",
          "stoa");

  // The permitted classes of other packages. Exceptions and errors are permitted in all of these
  // packages.
  private static final Map<String, Set<String>> CLASSES =
      Map.ofEntries(
          of(
              "java/lang",
              "Appendable AutoCloseable Boolean Byte CharSequence Character Class Cloneable Comparable"
                  + " Double Enum Float FunctionalInterface IO Integer Iterable Long Math Number"
                  + " Object Readable Record Runnable Short StackTraceElement StrictMath String"
                  + " StringBuffer StringBuilder System Throwable Void"),
          of("java/lang/constant", "ClassDesc"),
          of("java/lang/reflect", "Array"),
          of(
              "java/io",
              "BufferedInputStream BufferedOutputStream BufferedReader BufferedWriter"
                  + " ByteArrayInputStream ByteArrayOutputStream CharArrayReader CharArrayWriter"
                  + " Closeable DataInput DataInputStream DataOutput DataOutputStream"
                  + " FilterInputStream FilterOutputStream Flushable InputStream InputStreamReader"
                  + " LineNumberReader OutputStream OutputStreamWriter PrintStream PrintWriter"
                  + " PushbackReader Reader Serializable StringReader StringWriter Writer"),
          of("java/time/zone", "ZoneOffsetTransition ZoneOffsetTransitionRule ZoneRules"),
          of("java/net", "URI URLDecoder URLEncoder"),
          of(
              "java/nio",
              "Buffer ByteBuffer ByteOrder CharBuffer DoubleBuffer FloatBuffer IntBuffer LongBuffer"
                  + " ShortBuffer"),
          of("java/security", "MessageDigest"),
          of(
              "java/util",
              "AbstractCollection AbstractList AbstractMap AbstractQueue AbstractSequentialList"
                  + " AbstractSet ArrayDeque ArrayList Arrays Base64 BitSet Calendar Collection"
                  + " Collections Comparator Currency Date Deque Dictionary DoubleSummaryStatistics"
                  + " EnumMap EnumSet Enumeration EventListener EventObject Formattable"
                  + " FormattableFlags Formatter GregorianCalendar HashMap HashSet Hashtable HexFormat"
                  + " IdentityHashMap IntSummaryStatistics Iterator LinkedHashMap LinkedHashSet"
                  + " LinkedList List ListIterator Locale LongSummaryStatistics Map NavigableMap"
                  + " NavigableSet Objects Optional OptionalDouble OptionalInt OptionalLong"
                  + " PrimitiveIterator PriorityQueue Properties Queue Random RandomAccess Scanner"
                  + " SequencedCollection SequencedMap SequencedSet Set SimpleTimeZone SortedMap"
                  + " SortedSet Spliterator Spliterators SplittableRandom Stack StringJoiner"
                  + " StringTokenizer TimeZone TreeMap TreeSet UUID Vector WeakHashMap"),
          of(
              "java/util/concurrent",
              "Callable CompletableFuture CompletionStage ConcurrentHashMap ConcurrentLinkedDeque"
                  + " ConcurrentLinkedQueue ConcurrentMap ConcurrentNavigableMap"
                  + " ConcurrentSkipListMap ConcurrentSkipListSet CopyOnWriteArrayList"
                  + " CopyOnWriteArraySet Future TimeUnit"),
          of("java/util/zip", "Adler32 CRC32 CRC32C Checksum"),
          of(
              "stoa/spi",
              "Cancellation Forkable OwnState SharedField StateInput StateOutput Woven"));

  // Of these classes, only the named members are permitted.
  private static final Map<String, Set<String>> MEMBERS =
      Map.of(
          "java/lang/Class",
          words(
              "asSubclass cast componentType desiredAssertionStatus equals getCanonicalName"
                  + " getComponentType getEnumConstants getName getSimpleName getTypeName hashCode"
                  + " isArray isAssignableFrom isEnum isInstance isInterface isPrimitive isRecord"
                  + " toString"),
          "java/lang/System",
          words("arraycopy err lineSeparator out"),
          "java/lang/IO",
          words("print println"),
          "java/lang/Enum$EnumDesc",
          words("of"),
          "java/lang/constant/ClassDesc",
          words("of"),
          // Its other methods end the runs of all callers.
          "stoa/spi/Cancellation",
          words("check"));

  // The methods by which a compiler makes lambdas, texts, records and switches.
  private static final Set<String> BOOTSTRAPS =
      Set.of(
          "java/lang/invoke/ConstantBootstraps.invoke",
          "java/lang/invoke/LambdaMetafactory.altMetafactory",
          "java/lang/invoke/LambdaMetafactory.metafactory",
          "java/lang/invoke/StringConcatFactory.makeConcat",
          "java/lang/invoke/StringConcatFactory.makeConcatWithConstants",
          "java/lang/runtime/ObjectMethods.bootstrap",
          "java/lang/runtime/SwitchBootstraps.enumSwitch",
          "java/lang/runtime/SwitchBootstraps.typeSwitch",
          "stoa/spi/Woven.field",
          "stoa/spi/Woven.instance");

  private static Map.Entry<String, Set<String>> of(String pack, String classes) {
    return Map.entry(pack, words(classes));
  }

  private static Set<String> words(String text) {
    return Set.of(text.split(" ", -1));
  }

  private Permitted() {}

  /// Returns whether a class of the JDK or of Stoa is permitted.
  ///
  /// @param name its internal name
  static boolean isPermitted(String name) {
    int slash = name.lastIndexOf('/');
    if (slash < 0) return false;
    String pack = name.substring(0, slash);
    if (PACKAGES.contains(pack)) return true;
    Set<String> classes = CLASSES.get(pack);
    if (classes == null) return false;
    String simple = name.substring(slash + 1);
    int nested = simple.indexOf('$');
    String outer = nested < 0 ? simple : simple.substring(0, nested);
    boolean isLimited = nested >= 0 && MEMBERS.containsKey(pack + "/" + outer);
    if (isLimited) return false;
    return classes.contains(outer) || outer.endsWith("Exception") || outer.endsWith("Error");
  }

  /// Returns whether a method may make constants and call sites.
  static boolean isBootstrap(String owner, String name) {
    return BOOTSTRAPS.contains(owner + "." + name);
  }

  /// Returns the remedy for the use of a member of the JDK or of Stoa; null when it is permitted.
  ///
  /// @param owner internal name of the class
  static @Nullable String remedy(String owner, String name, String descriptor) {
    if (!isPermitted(owner)) return CALLER;
    Set<String> members = MEMBERS.get(owner);
    if (members != null) return members.contains(name) ? null : CALLER;
    return isDenied(owner, name, descriptor) ? CALLER : null;
  }

  private static boolean isDenied(String owner, String name, String descriptor) {
    boolean creates = name.equals("<init>");
    // A class file may name any class below the one that has the method.
    if (name.equals("wait") || name.equals("notify") || name.equals("notifyAll")) return true;
    if (name.startsWith("parallel")) return true;
    return switch (owner) {
      case "java/lang/Integer" -> name.equals("getInteger");
      case "java/lang/Long" -> name.equals("getLong");
      case "java/lang/Boolean" -> name.equals("getBoolean");
      case "java/io/PrintStream", "java/io/PrintWriter" ->
          creates
              && (descriptor.startsWith("(Ljava/lang/String;")
                  || descriptor.startsWith("(Ljava/io/File;"));
      case "java/util/Formatter" -> creates && !isOfText(descriptor);
      case "java/util/Scanner" ->
          creates
              && !descriptor.equals("(Ljava/lang/String;)V")
              && !descriptor.equals("(Ljava/lang/Readable;)V");
      case "java/util/Locale", "java/util/SimpleTimeZone", "java/util/TimeZone" ->
          name.equals("setDefault");
      // A provider is a map that the whole process uses.
      case "java/security/MessageDigest" -> name.equals("getProvider");
      case "java/util/stream/StreamSupport" -> true; // its streams may be parallel
      case "java/util/Properties" -> name.equals("loadFromXML") || name.equals("storeToXML");
      case "java/net/URI" -> name.equals("toURL");
      case "java/nio/ByteBuffer" -> name.equals("allocateDirect");
      case "java/util/concurrent/ConcurrentHashMap" -> descriptor.startsWith("(J");
      case "java/util/concurrent/CompletableFuture", "java/util/concurrent/CompletionStage" ->
          name.endsWith("Async")
              || name.equals("delayedExecutor")
              || name.equals("defaultExecutor")
              || name.equals("orTimeout")
              || name.equals("completeOnTimeout");
      case "stoa/Stoa" -> name.equals("open");
      case "java/util/concurrent/TimeUnit" ->
          name.equals("sleep") || name.equals("timedJoin") || name.equals("timedWait");
      default -> name.equals("newUpdater") && owner.startsWith("java/util/concurrent/atomic/");
    };
  }

  private static boolean isOfText(String descriptor) {
    return descriptor.equals("()V")
        || descriptor.equals("(Ljava/util/Locale;)V")
        || descriptor.startsWith("(Ljava/lang/Appendable;");
  }
}
