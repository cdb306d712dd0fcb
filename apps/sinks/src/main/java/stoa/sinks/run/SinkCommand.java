package stoa.sinks.run;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Reader;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Objects;
import java.util.Properties;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import stoa.Changes;
import stoa.ConnectionSecurity;
import stoa.DeadlineExceeded;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.Subscription;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.programs.ServerOptions;
import stoa.programs.Words;
import stoa.sinks.JsonLines;
import stoa.sinks.KafkaTopic;
import stoa.sinks.PostgresTable;

/// `stoa sink`: follows the objects of a type, and writes their changes into another system.
@Command(
    name = "sink",
    description = {
      "Follows the objects of a type at a server, and writes their changes into another system.",
      "",
      "It begins with the present objects. Each later change arrives once, however often the program"
          + " or a server ends. While the program does not run, the store keeps the changes under"
          + " the name, for --days. After that, the program begins anew with the present objects,"
          + " and deletes what is gone.",
      ""
    },
    sortOptions = false,
    footer = {
      "",
      "  ./stoa sink --name audit --type shop.Order --classpath shop.jar \\",
      "      --to file:orders.jsonl",
      "  ./stoa sink --name mirror --type shop.Order --classpath shop.jar \\",
      "      --to 'jdbc:postgresql://localhost/shop?user=sink' --table orders",
      "  ./stoa sink --name feed --type shop.Order --classpath shop.jar \\",
      "      --to kafka://localhost:9092/orders",
      "",
      "The program ends with 1 when the other system refuses; start it again then. It",
      "waits for servers that are away. ./stoa subscriptions --delete NAME ends what",
      "the store keeps for it."
    })
final class SinkCommand implements Callable<Integer> {
  private static final String FILE = "file:";
  private static final String POSTGRES = "jdbc:postgresql:";
  private static final String KAFKA = "kafka://";

  // How long a run with --once waits for a next change.
  private static final Duration ONCE = Duration.ofSeconds(1);

  private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--name",
      required = true,
      paramLabel = "NAME",
      description = "The name of the durable subscription. Each sink has its own.")
  private String name = "";

  @Option(
      names = "--type",
      required = true,
      paramLabel = "CLASS",
      description = "The class of the objects, with its package.")
  private String type = "";

  @Option(
      names = "--classpath",
      paramLabel = "PATH",
      description = "Jar files and directories with the class, joined by ${sys:path.separator}")
  private @Nullable String classpath;

  @Option(
      names = "--to",
      required = true,
      paramLabel = "PLACE",
      description =
          "file:PATH for lines of JSON, jdbc:postgresql:... for a table of PostgreSQL, or"
              + " kafka://HOST:PORT[,HOST:PORT...]/TOPIC.")
  private String place = "";

  @Option(
      names = "--table",
      paramLabel = "NAME",
      description = "The table of PostgreSQL. Default: the name of the sink.")
  private @Nullable String table;

  @Option(
      names = "--properties",
      paramLabel = "FILE",
      description =
          "Settings for PostgreSQL's driver (user, password, sslmode) or for Kafka's clients"
              + " (security.protocol), a line KEY=VALUE each.")
  private @Nullable Path properties;

  @Option(
      names = "--days",
      paramLabel = "N",
      defaultValue = "7",
      description =
          "How long the store keeps changes while the sink is away. Default: ${DEFAULT-VALUE}")
  private int days;

  @Option(
      names = "--once",
      description = "Ends when it has written what is there, and no change comes for a second.")
  private boolean once;

  @Mixin private ServerOptions options = new ServerOptions();

  private SinkCommand() {}

  /// Writes changes to one target.
  private interface Writer {
    /// Writes until no change comes for a time; null for without end.
    long write(Stoa stoa, Subscription subscription, @Nullable Duration idleMax)
        throws IOException, SQLException, InterruptedException;
  }

  @Override
  public Integer call() throws InterruptedException {
    var line = Objects.requireNonNull(spec).commandLine();
    if (days < 1) throw new ParameterException(line, "--days " + days + ": at least 1");
    if (table != null && !place.startsWith(POSTGRES)) {
      throw new ParameterException(line, "--table is for " + POSTGRES + "...");
    }
    ClassLoader before = Thread.currentThread().getContextClassLoader();
    try (var loader = new URLClassLoader(urls(line), SinkCommand.class.getClassLoader())) {
      // The store finds the classes of states and arguments there.
      Thread.currentThread().setContextClassLoader(loader);
      write(Class.forName(type, false, loader), line.getOut(), line.getErr());
      return 0;
    } catch (ClassNotFoundException missing) {
      throw new IllegalArgumentException(
          "there is no class " + type + "; add the jar that has it to --classpath", missing);
    } catch (IOException | SQLException | KafkaException refused) {
      line.getErr().println("stoa: " + refused.getMessage());
      return 1;
    } finally {
      Thread.currentThread().setContextClassLoader(before);
    }
  }

  private URL[] urls(picocli.CommandLine line) {
    var all = new ArrayList<URL>();
    String path = classpath;
    if (path == null) return new URL[0];
    for (String one : path.split(File.pathSeparator, -1)) {
      if (one.isEmpty()) continue;
      Path file = Path.of(one);
      if (!file.toFile().exists()) {
        throw new ParameterException(line, "--classpath: there is no " + one);
      }
      try {
        all.add(file.toUri().toURL());
      } catch (MalformedURLException odd) {
        throw new ParameterException(line, "--classpath: " + one + " cannot be read", odd);
      }
    }
    return all.toArray(URL[]::new);
  }

  private void write(Class<?> of, PrintWriter out, PrintWriter err)
      throws IOException, SQLException, InterruptedException {
    if (place.startsWith(FILE)) {
      try (var lines = new JsonLines(Path.of(place.substring(FILE.length())))) {
        follow(
            (stoa, held, idle) -> lines.run(stoa, Changes.of(of).withStates(), held, idle),
            out,
            err);
      }
    } else if (place.startsWith(POSTGRES)) {
      try (Connection database = DriverManager.getConnection(place, given())) {
        String asked = table;
        var mirror = new PostgresTable<>(database, of, asked != null ? asked : name);
        follow(mirror::run, out, err);
      }
    } else if (place.startsWith(KAFKA)) {
      kafka(of, out, err);
    } else {
      throw new IllegalArgumentException(
          "\"%s\" is no place for changes; say %sPATH, %s//HOST/DATABASE, or %sHOST:PORT/TOPIC"
              .formatted(place, FILE, POSTGRES, KAFKA));
    }
  }

  private void kafka(Class<?> of, PrintWriter out, PrintWriter err)
      throws IOException, SQLException, InterruptedException {
    int slash = place.indexOf('/', KAFKA.length());
    if (slash < 0 || slash == place.length() - 1) {
      throw new IllegalArgumentException(
          "\"%s\" names no topic; say %sHOST:PORT/TOPIC".formatted(place, KAFKA));
    }
    String topic = place.substring(slash + 1);
    Properties writing = given();
    writing.put("bootstrap.servers", place.substring(KAFKA.length(), slash));
    Properties reading = new Properties();
    reading.putAll(writing);
    writing.put("transactional.id", "stoa-sink-" + name);
    // The present objects are one transaction; a broker allows 15 minutes unless it says otherwise.
    writing.putIfAbsent("transaction.timeout.ms", "900000");
    reading.put("group.id", "stoa-sink-" + name);
    reading.put("enable.auto.commit", "false");
    reading.put("isolation.level", "read_committed");
    try (var producer =
            new KafkaProducer<String, @Nullable String>(
                writing, new StringSerializer(), new StringSerializer());
        var offsets =
            new KafkaConsumer<String, @Nullable String>(
                reading, new StringDeserializer(), new StringDeserializer())) {
      var records = new KafkaTopic(producer, offsets, topic);
      follow(
          (stoa, held, idle) -> records.run(stoa, Changes.of(of).withStates(), held, idle),
          out,
          err);
    }
  }

  private Properties given() throws IOException {
    var all = new Properties();
    Path file = properties;
    if (file == null) return all;
    try (Reader in = Files.newBufferedReader(file, UTF_8)) {
      all.load(in);
    }
    return all;
  }

  private void follow(Writer writer, PrintWriter out, PrintWriter err)
      throws IOException, SQLException, InterruptedException {
    try (Stoa stoa =
        Stoa.open(StoaConfig.of("stoa://" + options.server()).withSecurity(security()))) {
      Subscription held = stoa.subscribe(name, Duration.ofDays(days));
      out.println(
          "follows " + type + " for " + place.replaceFirst("password=[^&]*", "password=..."));
      out.flush();
      if (once) {
        out.println(Words.count(writer.write(stoa, held, ONCE), "change"));
        out.flush();
        return;
      }
      while (true) {
        try {
          var _ = writer.write(stoa, held, null);
        } catch (Unavailable | DeadlineExceeded | UnknownOutcome away) {
          err.println("stoa: " + away.getMessage() + "; the sink tries again");
          err.flush();
          LockSupport.parkNanos(PAUSE_NANOS);
        }
      }
    }
  }

  private ConnectionSecurity security() {
    ConnectionSecurity security = options.security();
    Path file = options.tokenFile();
    return file == null ? security : security.withTokenFile(file);
  }
}
