package stoa.front.types;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.ObjectInputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.RandomAccessFile;
import java.io.Serial;
import java.lang.classfile.ClassFile;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.invoke.MethodHandles;
import java.lang.ref.Cleaner;
import java.lang.reflect.Proxy;
import java.math.BigDecimal;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.text.DecimalFormat;
import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.Formatter;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.ResourceBundle;
import java.util.Scanner;
import java.util.ServiceLoader;
import java.util.SimpleTimeZone;
import java.util.Timer;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.jar.JarFile;
import java.util.logging.FileHandler;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;
import java.util.zip.CRC32;
import java.util.zip.ZipFile;
import javax.naming.InitialContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import stoa.NotShareable;
import stoa.ShardedMap;
import stoa.SharedList;
import stoa.Stoa;
import stoa.spi.Cancellation;

/// Deployed code reaches nothing beyond the objects of the store.
class StrictCodeTest {
  private static Map<String, byte[]> files(Class<?>... classes) {
    var files = new TreeMap<String, byte[]>();
    for (Class<?> one : classes) {
      String name = one.getName();
      try (InputStream in =
          Objects.requireNonNull(
              one.getResourceAsStream("/" + name.replace('.', '/') + ".class"))) {
        files.put(name, in.readAllBytes());
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
    }
    return files;
  }

  private static String refused(Class<?>... classes) {
    Map<String, byte[]> files = files(classes);
    var refused = assertThrows(NotShareable.class, () -> StrictCode.check(files));
    return String.valueOf(refused.getMessage());
  }

  // ---- what ordinary code does

  enum Color {
    RED,
    GREEN
  }

  sealed interface Shape permits Circle, Square {}

  record Circle(double radius) implements Shape {}

  record Square(double side) implements Shape {}

  static class Problem extends RuntimeException {
    @Serial private static final long serialVersionUID = 1L;

    Problem(String message) {
      super(message);
    }
  }

  abstract static class Base<T extends Comparable<T>> extends ArrayList<T> {
    @Serial private static final long serialVersionUID = 1L;

    T first() {
      return get(0);
    }
  }

  static class Ordinary extends Base<String> {
    @Serial private static final long serialVersionUID = 1L;
    private static final Pattern WORD = Pattern.compile("\\w+");
    private final transient Map<Color, List<BigDecimal>> prices = new EnumMap<>(Color.class);
    private final ConcurrentHashMap<String, Long> counts = new ConcurrentHashMap<>();

    String all(Shape shape, Color color, Object any) throws Exception {
      double area =
          switch (shape) {
            case Circle(double radius) -> Math.PI * radius * radius;
            case Square square when square.side() > 1 -> square.side();
            case Square _ -> 1;
          };
      String name =
          switch (color) {
            case RED -> "r";
            case GREEN -> "g";
          };
      assert area > 0 : "no area";
      counts.merge(name, 1L, Long::sum);
      prices.computeIfAbsent(color, _ -> new ArrayList<>()).add(new BigDecimal("1.50"));
      List<String> sorted =
          stream().filter(Objects::nonNull).sorted(Comparator.reverseOrder()).toList();
      var text = new StringBuilder(String.join(",", sorted)).append(area);
      Function<Integer, String> hex = number -> HexFormat.of().toHexDigits(number);
      text.append(IntStream.range(0, 3).boxed().map(hex).collect(Collectors.joining()));
      text.append(String.format(Locale.ROOT, "%s %.2f", any, area));
      text.append(new Formatter(Locale.ROOT).format("%d", 3));
      text.append(new DecimalFormat("0.00").format(area)).append(WORD.matcher(name).matches());
      text.append(LocalDate.of(2026, 1, 2).atStartOfDay(ZoneOffset.UTC).toInstant());
      text.append(Duration.ofSeconds(TimeUnit.MINUTES.toSeconds(2)));
      byte[] bytes = text.toString().getBytes(StandardCharsets.UTF_8);
      var sum = new CRC32();
      sum.update(bytes);
      text.append(
          Base64.getEncoder().encodeToString(MessageDigest.getInstance("SHA-256").digest()));
      text.append(ByteBuffer.wrap(bytes).getInt()).append(new Scanner("a b").next());
      try (var out = new PrintStream(new ByteArrayOutputStream())) {
        out.println(text);
      }
      System.out.println(getClass().getSimpleName() + first() + Arrays.hashCode(bytes));
      int[] copy = bytes.length > 4 ? new int[] {1}.clone() : new int[0];
      System.arraycopy(copy, 0, copy, 0, 0);
      if (any instanceof String word && word.isEmpty()) throw new Problem("none");
      return text.toString() + CompletableFuture.completedFuture(1).join();
    }
  }

  @Test
  void ordinaryCodePasses() {
    var classes = new ArrayList<Class<?>>(List.of(Ordinary.class, Base.class, Problem.class));
    classes.addAll(List.of(Color.class, Shape.class, Circle.class, Square.class));
    StrictCode.check(files(classes.toArray(Class<?>[]::new)));
  }

  // ---- what reaches beyond

  static class Attack {
    private Attack() {}

    void printStream() throws IOException {
      new PrintStream("f").close();
    }

    void printWriter() throws IOException {
      new PrintWriter(new File("f"), StandardCharsets.UTF_8).close();
    }

    void formatter() throws IOException {
      new Formatter("f").close();
    }

    void formatterOfStream() throws IOException {
      new Formatter(new FileOutputStream("f")).close();
    }

    void scanner() throws IOException {
      new Scanner(Path.of("f"), StandardCharsets.UTF_8).close();
    }

    void fileHandler() throws IOException {
      new FileHandler("f").close();
    }

    void zipFile() throws IOException {
      new ZipFile("f").close();
    }

    void files() throws IOException {
      Files.delete(Path.of("f"));
    }

    void methodOfFiles() {
      java.util.function.Predicate<Path> exists = Files::isSymbolicLink;
      Objects.requireNonNull(exists);
    }

    void constructorOfFiles() {
      Function<String, File> opening = File::new;
      Objects.requireNonNull(opening);
    }

    @SuppressWarnings("BanJNDI")
    Object context() throws Exception {
      return new InitialContext().lookup("ldap://host/x");
    }

    Object handle() throws Exception {
      return MethodHandles.lookup();
    }

    Object reflection() throws Exception {
      return Class.forName("java.lang.Runtime").getMethods();
    }

    Object loader() {
      return getClass().getClassLoader();
    }

    void exit() {
      System.exit(1);
    }

    @SuppressWarnings("restricted")
    void load() {
      System.load("f");
    }

    void property() {
      System.setProperty("a", "b");
    }

    Object runtime() throws IOException {
      return Runtime.getRuntime().exec(new String[] {"f"});
    }

    Object process() throws IOException {
      return new ProcessBuilder("f").start();
    }

    void thread() {
      Thread.ofVirtual().start(() -> {});
    }

    void timer() {
      new Timer().cancel();
    }

    void pool() {
      var _ = CompletableFuture.runAsync(() -> {});
    }

    Object parallel() {
      return List.of(1).parallelStream().count();
    }

    void parallelSort() {
      Arrays.parallelSort(new int[1]);
    }

    @SuppressWarnings("AddressSelection")
    void socket() throws IOException {
      new Socket("h", 1).close();
    }

    Object object() throws Exception {
      return new ObjectInputStream(InputStream.nullInputStream()).readObject();
    }

    Object services() {
      return ServiceLoader.load(Runnable.class).findFirst();
    }

    void locale() {
      Locale.setDefault(Locale.ROOT);
    }

    Object memory() {
      return ByteBuffer.allocateDirect(1);
    }

    Object logger() {
      return System.getLogger("a");
    }

    Object input() {
      return System.in;
    }

    Object store() {
      return Stoa.open("file:other");
    }

    Object internals() {
      return Platform.has(String.class);
    }

    native void outside();

    // Members that a permitted class inherits from one where they are not permitted.

    void timeZoneOfSubclass() {
      SimpleTimeZone.setDefault(null);
    }

    Object parallelOfShared(SharedList<String> list) {
      return list.parallelStream();
    }

    Object parallelOfShardedMap(ShardedMap<String, String> map) {
      return map.keySet().parallelStream();
    }

    Object parallelSpliterator() {
      return StreamSupport.stream(List.of(1).spliterator(), true);
    }

    Object parallelIntegers() {
      return IntStream.range(0, 9).parallel().sum();
    }

    // Objects of the whole process that are permitted maps, and methods that concern all callers.

    void provider() throws Exception {
      ((Map<?, ?>) MessageDigest.getInstance("SHA-256").getProvider()).clear();
    }

    void cancellationOfAll() {
      Cancellation.stop(() -> true);
    }

    void cancellationOver() {
      Cancellation.ended(() -> true);
    }

    // Reflection that has another name.

    Object updater() {
      return AtomicIntegerFieldUpdater.newUpdater(Attack.class, "field");
    }

    Object loaderOfClass() throws Exception {
      return String.class.getModule().getResourceAsStream("a");
    }

    Object enumDescription() throws Exception {
      return Enum.EnumDesc.of(ClassDesc.of("a.B"), "C").resolveConstantDesc(null);
    }

    Object proxy() {
      return Proxy.newProxyInstance(null, new Class<?>[0], null);
    }

    Object resources() {
      return ResourceBundle.getBundle("a");
    }

    // Files and networks that have another name.

    Object address() throws Exception {
      return URI.create("file:/etc/passwd").toURL();
    }

    Object channel() throws IOException {
      return FileChannel.open(Path.of("f"));
    }

    Object random() throws IOException {
      return new RandomAccessFile("f", "rw");
    }

    void document() throws IOException {
      new Properties().loadFromXML(InputStream.nullInputStream());
    }

    void jar() throws IOException {
      new JarFile("f").close();
    }

    @SuppressWarnings("AddressSelection")
    Object host() throws IOException {
      return InetAddress.getByName("h");
    }

    Object client() {
      return HttpClient.newHttpClient();
    }

    void environment() {
      var _ = System.getenv("PATH");
    }

    Object integerProperty() {
      return Integer.getInteger("a");
    }

    // Threads that have another name.

    void executor() {
      Executors.newVirtualThreadPerTaskExecutor().close();
    }

    CompletableFuture<String> delayed() {
      return new CompletableFuture<String>().orTimeout(1, TimeUnit.SECONDS);
    }

    void timedJoin() throws InterruptedException {
      TimeUnit.SECONDS.timedJoin(null, 1);
    }

    Object cleaner() {
      return Cleaner.create();
    }

    void hook() {
      Runtime.getRuntime().addShutdownHook(null);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "printStream",
        "printWriter",
        "formatter",
        "formatterOfStream",
        "scanner",
        "fileHandler",
        "zipFile",
        "files",
        "methodOfFiles",
        "constructorOfFiles",
        "context",
        "handle",
        "reflection",
        "loader",
        "exit",
        "load",
        "property",
        "runtime",
        "process",
        "thread",
        "timer",
        "pool",
        "parallel",
        "parallelSort",
        "socket",
        "object",
        "services",
        "locale",
        "memory",
        "logger",
        "input",
        "store",
        "internals",
        "outside",
        "timeZoneOfSubclass",
        "parallelOfShared",
        "parallelOfShardedMap",
        "parallelSpliterator",
        "parallelIntegers",
        "provider",
        "cancellationOfAll",
        "cancellationOver",
        "updater",
        "loaderOfClass",
        "enumDescription",
        "proxy",
        "resources",
        "address",
        "channel",
        "random",
        "document",
        "jar",
        "host",
        "client",
        "environment",
        "integerProperty",
        "executor",
        "delayed",
        "timedJoin",
        "cleaner",
        "hook"
      })
  void codeThatReachesBeyondTheStoreIsRefused(String method) {
    Map<String, byte[]> all = files(Attack.class);
    String name = Attack.class.getName();
    byte[] only = OnlyMethod.of(Objects.requireNonNull(all.get(name)), method);
    var refused = assertThrows(NotShareable.class, () -> StrictCode.check(Map.of(name, only)));
    String words = String.valueOf(refused.getMessage());
    assertTrue(words.startsWith(name + "." + method + "("), words);
    assertTrue(words.contains("which deployed code may not"), words);
    assertTrue(words.contains("--trusted-code"), words);
  }

  /// Returns a class whose method calls a method of an object without arguments.
  ///
  /// @param owner the class that the class file names, which a compiler would not
  private static byte[] calling(String name, ClassDesc owner, String method) {
    return ClassFile.of()
        .build(
            ClassDesc.of(name),
            built ->
                built.withMethodBody(
                    "run",
                    MethodTypeDesc.of(ConstantDescs.CD_void, owner),
                    ClassFile.ACC_STATIC,
                    code ->
                        code.aload(0)
                            .invokevirtual(owner, method, MethodTypeDesc.of(ConstantDescs.CD_void))
                            .return_()));
  }

  @Test
  void classFilesThatNoCompilerWritesAreRefused() {
    var text = ConstantDescs.CD_String;
    var array = ConstantDescs.CD_int.arrayType();
    for (ClassDesc owner : List.of(text, array, ConstantDescs.CD_List, ClassDesc.of("stoa.Ref"))) {
      for (String method : List.of("wait", "notify", "notifyAll")) {
        var files = Map.of("a.B", calling("a.B", owner, method));
        assertThrows(NotShareable.class, () -> StrictCode.check(files), owner + "." + method);
      }
    }
    StrictCode.check(Map.of("a.B", calling("a.B", array, "clone")));
    // A class that would stand for one of the server's, to which woven code turns.
    for (String name : List.of("stoa.spi.Cancellation", "stoa.Call", "java.util.Evil")) {
      var files = Map.of(name, calling(name, text, "length"));
      var refused = assertThrows(NotShareable.class, () -> StrictCode.check(files));
      assertTrue(String.valueOf(refused.getMessage()).startsWith(name + " is in a package of "));
    }
  }

  @Test
  void theTableOfAttacksHasEveryMethod() throws Exception {
    var test =
        StrictCodeTest.class.getDeclaredMethod(
            "codeThatReachesBeyondTheStoreIsRefused", String.class);
    var named = List.of(test.getAnnotation(ValueSource.class).strings());
    var declared =
        Arrays.stream(Attack.class.getDeclaredMethods())
            .filter(one -> !one.isSynthetic())
            .map(java.lang.reflect.Method::getName)
            .sorted()
            .toList();
    assertEquals(declared, named.stream().sorted().toList());
  }

  static class Loading extends ClassLoader {
    Class<?> define(byte[] file) {
      return defineClass("a", file, 0, file.length);
    }
  }

  static class Running extends Thread {}

  /// Inherits a constructor that opens a file.
  static class Printing extends PrintStream {
    Printing() throws IOException {
      super("f");
    }
  }

  static class Inheriting {
    Object found() {
      return new Supplying().helper();
    }
  }

  static class Supplying implements Supplier<Object> {
    Object helper() {
      return Thread.currentThread();
    }

    @Override
    public Object get() {
      return helper();
    }
  }

  static class Waiting extends ArrayList<String> {
    @Serial private static final long serialVersionUID = 1L;

    Object all() {
      return this.parallelStream();
    }
  }

  static class Finalized {
    @SuppressWarnings({"deprecation", "removal", "Finalize"})
    @Override
    protected void finalize() {}
  }

  @Test
  void superclassesInheritedMembersAndFinalizersAreRefused() {
    assertTrue(refused(Loading.class).contains("extends or implements java.lang.ClassLoader"));
    assertTrue(refused(Running.class).contains("extends or implements java.lang.Thread"));
    assertTrue(refused(Printing.class).contains("creates a java.io.PrintStream"));
    assertTrue(refused(Waiting.class).contains("uses java.util.ArrayList.parallelStream"));
    assertTrue(refused(Finalized.class).contains("runs on a thread of the JVM"));
    // Code that no other code seems to call is checked as well.
    assertTrue(
        refused(Inheriting.class, Supplying.class).contains("java.lang.Thread.currentThread"));
  }

  @Test
  void classesOutsideOfTheFilesAreRefused() {
    String words = refused(Inheriting.class);
    assertTrue(words.contains("creates a " + Supplying.class.getName()), words);
  }
}
