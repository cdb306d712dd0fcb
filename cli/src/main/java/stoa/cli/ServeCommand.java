package stoa.cli;

import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import stoa.StoaConfig;
import stoa.base.Measures;
import stoa.base.Permissions;
import stoa.base.Secret;
import stoa.cluster.ClusterOptions;
import stoa.cluster.ClusterServer;
import stoa.cluster.Contact;
import stoa.cluster.Machine;
import stoa.cluster.ServerDirectory;
import stoa.http.Console;
import stoa.http.HttpApi;
import stoa.node.HttpDoor;
import stoa.node.Server;
import stoa.node.ServerConfig;
import stoa.node.access.IdentitySource;
import stoa.node.access.Proof;
import stoa.objects.ObjectService;
import stoa.objects.RetentionService;
import stoa.raft.NodeConfig;
import stoa.weave.UserClasses;
import stoa.wire.proto.JoinReply;
import stoa.wire.proto.JoinRequest;

/// `stoa serve`: a server of a store, until it must stop.
///
/// ```
/// settings of FILE           it has read them, when --config is given
/// listening on HOST:PORT     it listens
/// http on HOST:PORT          it answers over HTTP, when --http is given
/// ready                      it answers
/// ```
@Command(
    name = "serve",
    description = "Serves a store to clients that open stoa://HOST:PORT.",
    footer = {
      "",
      "It listens on this machine alone unless --listen names another address; that",
      "needs --tls-certificate, --tls-key and --identities or --token-file, or",
      "--insecure. It reads certificates and identities again when their files change.",
      "Stop it with SIGTERM or Ctrl-C: it answers the requests in progress and closes the",
      "store.",
      "",
      "Servers that keep one store prove to each other that they know its secret. The",
      "first one writes it to cluster.secret in its data directory. Give a joining",
      "server a copy of that file with --secret; the server keeps it. A store that an",
      "earlier version began has none, and does not start: stop all servers, write a",
      "secret into a file of mode 600 (64 hexadecimal digits, as openssl rand -hex 32",
      "writes them), and start each server with --secret and a copy of that file."
    })
final class ServeCommand implements Callable<Integer> {
  // Held here: java.util.logging forgets loggers, with their levels, that nobody holds. The end of
  // another server does not concern the operator.
  private static final Logger RAFT = Logger.getLogger("io.microraft");

  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--data",
      required = true,
      paramLabel = "DIR",
      description = "The directory of the store; memory: keeps it in memory only.")
  private String data = "";

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description =
          "A file with settings, which ./stoa config lists. Variables of the environment and"
              + " options go before it. Default: STOA_CONFIG names it, if any does")
  private @Nullable Path settings;

  @Option(
      names = "--listen",
      paramLabel = "HOST:PORT",
      description = "The address to listen on; port 0 is any. Default: ${DEFAULT-VALUE}")
  private String listen = "127.0.0.1:7400";

  @Option(
      names = "--http",
      paramLabel = "[HOST:]PORT",
      description =
          "Answer over HTTP at this address: /metrics for Prometheus, /health/live and"
              + " /health/ready, /console/ for browsers, and below /v1 the objects as JSON; without"
              + " HOST for this machine alone; port 0 is any. At other addresses over TLS. Clients"
              + " send a token of --token-file, if there is one; /health needs none. Default: no"
              + " such door")
  private @Nullable String http;

  @Option(
      names = "--log",
      paramLabel = "FORMAT",
      description =
          "How the log is written to the standard error: text, or json for one JSON object a line."
              + " Default: ${DEFAULT-VALUE}")
  private LogFormat log = LogFormat.text;

  @Option(
      names = "--shards",
      paramLabel = "N",
      description = "How many shards a new store has. Default: ${DEFAULT-VALUE}")
  private int shards = 1;

  @Option(
      names = "--replicated",
      description =
          "Begin a store of several servers, or take over the one that this server kept alone in"
              + " its directory; start the others with --join.")
  private boolean replicated;

  @Option(
      names = "--groups",
      paramLabel = "N",
      description =
          "With --replicated: how many groups keep the store, 1 to 64. Default: ${DEFAULT-VALUE}")
  private int groups = 4;

  @Option(
      names = "--replicas",
      paramLabel = "N",
      description =
          "With --replicated: how many servers execute the calls of each group, 1, 2, 3 or 5. Below"
              + " 3, others keep its log and nothing else, so that each group is on three servers."
              + " Default: ${DEFAULT-VALUE}")
  private int replicas = 3;

  @Option(
      names = "--replace-after",
      paramLabel = "SECONDS",
      description =
          "With several servers: how long one may be silent before others get its replicas, more"
              + " than 3. A server that stops for less keeps its place. Give the same to all of"
              + " them: the one that leads the first group decides. Default: ${DEFAULT-VALUE}")
  private long replaceAfter = ClusterOptions.REPLACE_AFTER.toSeconds();

  @Option(
      names = "--join",
      paramLabel = "HOST:PORT",
      description = "Join the store of that server.")
  private @Nullable String join;

  @Mixin private ServersSecret secret = new ServersSecret();

  @Option(
      names = "--name",
      paramLabel = "NAME",
      description =
          "The name of the server among several, of a-z, A-Z, 0-9, '.', '_' and '-'. Default: s and"
              + " the port of --listen")
  private @Nullable String name;

  @Option(
      names = "--peers",
      paramLabel = "HOST:PORT",
      description = "The address for the other servers. Default: any port of --listen's host")
  private @Nullable String peers;

  @Option(
      names = "--classpath",
      paramLabel = "PATH",
      description =
          "Jar files and directories with shared classes, joined by ${sys:path.separator}. Classes"
              + " that the store has, deployed or used before, are not needed.")
  private @Nullable String classpath;

  @Option(
      names = "--type",
      split = ",",
      paramLabel = "CLASS",
      description =
          "A class that may travel though no shared class names it; several joined by commas, or"
              + " given again.")
  private List<String> types = new ArrayList<>();

  @Option(names = "--tls-certificate", paramLabel = "FILE", description = "Certificates, in PEM.")
  private @Nullable Path certificate;

  @Option(names = "--tls-key", paramLabel = "FILE", description = "Their private key, in PEM.")
  private @Nullable Path key;

  @Option(
      names = "--tls-authorities",
      paramLabel = "FILE",
      description =
          "The signers of the certificate of the server that --join names, in PEM; for a store"
              + " without a secret, those of all servers that keep it.")
  private @Nullable Path authorities;

  @Option(
      names = "--tls-client-authorities",
      paramLabel = "FILE",
      description =
          "The signers of the certificates by which clients may prove themselves, in PEM. --identities"
              + " names the clients with such certificates.")
  private @Nullable Path clientAuthorities;

  @Option(
      names = "--identities",
      paramLabel = "FILE",
      description =
          "A file with the clients that the server knows, their tokens and certificates, and their"
              + " roles; ./stoa identity NAME makes its lines. The server reads it again when it"
              + " changes.")
  private @Nullable Path identities;

  @Option(
      names = "--token-file",
      paramLabel = "FILE",
      description =
          "A file with the tokens of which clients must send one, one a line; each may do everything."
              + " With several tokens, clients with one of them have at most half of the sessions."
              + " When the word deploy stands behind some, only clients with these may deploy, try"
              + " and bring classes. With --identities: the token that this server sends to that of"
              + " --join.")
  private @Nullable Path tokenFile;

  @Option(
      names = "--insecure",
      description = "Listen on networks of other machines without TLS and token.")
  private boolean insecure;

  @Option(
      names = "--fan-out",
      paramLabel = "N",
      description =
          "The most clients directly below each other one in the tree of client-placed objects."
              + " Default: ${DEFAULT-VALUE}")
  private int fanOut = ServerConfig.of("127.0.0.1", 0).treeFanOut();

  @Option(
      names = "--traces",
      paramLabel = "URL",
      description =
          "Send the spans of the calls that clients record to the collector at this URL, by OTLP over"
              + " HTTP. Default: that of OTEL_EXPORTER_OTLP_ENDPOINT, if there is one")
  private @Nullable String traces;

  @Option(
      names = "--trace-keys",
      description = "Send the keys of objects with the spans. A key may be personal data.")
  private boolean traceKeys;

  /// How the log is written; the names are those of the option.
  private enum LogFormat {
    text,
    json
  }

  @Option(
      names = "--keep",
      split = ",",
      paramLabel = "RULE",
      description =
          "How much of the past a new store keeps: all, versions=N, age=30d (or h, m, s), or one of"
              + " these for a type, as bank.Account=versions=100; several joined by commas, or"
              + " given again; and disk=100GB for the most that each group takes on a disk. ./stoa keep"
              + " shows and changes what a store keeps. Default: all")
  private List<String> keep = new ArrayList<>();

  @Option(
      names = "--client-classes",
      description =
          "Take the shared classes of clients, and their handlers of listeners: when a client uses"
              + " a class that the store has never had, the client brings it, and the server runs"
              + " it. Give a token with --token-file.")
  private boolean clientClasses;

  @Mixin private AcceptedLosses accepted = new AcceptedLosses();

  private ServeCommand() {}

  @Override
  public Integer call() throws InterruptedException {
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    PrintWriter err = Objects.requireNonNull(spec).commandLine().getErr();
    if (log == LogFormat.json) JsonLogs.install();
    if (settings != null) out.println("settings of " + settings);
    RAFT.setLevel(Level.SEVERE);
    ServerConfig config = config();
    TraceExport export = TraceExport.open(traces, traceKeys, System.getenv());
    HttpDoor.Config door = http == null ? null : door(config, http);
    ClassLoader loader = loader(err);
    Thread.currentThread().setContextClassLoader(loader);
    openAll(loader);
    if (isOneOfSeveral()) return serveTogether(config, door, export, loader, out, err);
    Server server = start(config, ObjectService.open(store(loader), admissible(loader)));
    if (!data.equals("memory:")) server.settle(Path.of(data));
    if (export != null) server.trace(export.tracer());
    HttpApi api = api(door, config, server, loader, server::measure);
    Monitoring monitoring = monitoring(door, server, server::measure, api, export, server::close);
    stopWithProcess(server::close, monitoring, api, export);
    ready(out, config, server.port(), door, monitoring);
    Throwable failure = server.awaitClosed();
    if (failure == null) return 0;
    err.println(
        "stoa: the store has failed, and the server ends: "
            + failure.getMessage()
            + "; mend that, and start it again");
    err.flush();
    server.close();
    return 1;
  }

  /// Opens the files of the class path, which Java otherwise opens at the first search in them. A
  /// server without free file descriptors still needs the classes with which it reports that and
  /// ends.
  private static void openAll(ClassLoader loader) {
    try {
      var _ = loader.getResources("META-INF/stoa/none").hasMoreElements();
    } catch (IOException unreadable) {
      // A later search for a class there reports it.
    }
  }

  private static Predicate<Class<?>> admissible(ClassLoader loader) {
    return type -> loader.equals(type.getClassLoader());
  }

  private static void ready(
      PrintWriter out,
      ServerConfig config,
      int port,
      HttpDoor.@Nullable Config door,
      @Nullable Monitoring monitoring) {
    out.println("listening on " + new ListenAddress(config.host(), port));
    if (door != null && monitoring != null) {
      out.println("http on " + new ListenAddress(door.host(), monitoring.port()));
    }
    out.println("ready");
    out.flush();
  }

  // ---- metrics and health

  /// Returns how the door for HTTP listens: as the door for clients, except that it encrypts
  /// nothing that stays on this machine.
  private HttpDoor.Config door(ServerConfig config, String where) {
    ListenAddress address = ListenAddress.of(where.indexOf(':') < 0 ? "127.0.0.1:" + where : where);
    boolean secured = config.certificate() != null && (tokenFile != null || identities != null);
    if (!address.isLocal() && !secured && !insecure) {
      throw new IllegalArgumentException(
          "--http "
              + address
              + " can be reached from other machines; give --tls-certificate, --tls-key and"
              + " --identities or --token-file, or --insecure if the network is trusted");
    }
    if (address.isLocal()) return HttpDoor.Config.plain(address.host(), address.port());
    return new HttpDoor.Config(
        address.host(), address.port(), config.certificate(), config.key(), config.authorities());
  }

  /// Returns the objects of the store over HTTP; null without a door for HTTP.
  private @Nullable HttpApi api(
      HttpDoor.@Nullable Config door,
      ServerConfig config,
      Server server,
      ClassLoader loader,
      Consumer<Measures> measures) {
    if (door == null) return null;
    return HttpObjects.of(
        OwnServer.of(config, server.port(), authorities, server.access()),
        loader,
        SharedClasses.names(path()),
        Trends.begin(measures));
  }

  private static @Nullable Monitoring monitoring(
      HttpDoor.@Nullable Config door,
      Server server,
      Consumer<Measures> source,
      @Nullable HttpApi api,
      @Nullable TraceExport export,
      Runnable closing) {
    if (door == null || api == null) return null;
    try {
      var routes = new HashMap<>(new Console().routes());
      routes.put(HttpApi.ROOT, export == null ? api : export.route(api));
      return Monitoring.open(door, server, source, routes);
    } catch (IOException | RuntimeException failed) {
      closing.run();
      throw new IllegalArgumentException(
          "--http "
              + new ListenAddress(door.host(), door.port())
              + " cannot be opened: "
              + failed.getMessage(),
          failed);
    }
  }

  /// Closes the server when the process is to end, and tells until then that it is not ready.
  private static void stopWithProcess(
      Runnable closing,
      @Nullable Monitoring monitoring,
      @Nullable HttpApi api,
      @Nullable TraceExport export) {
    Runnable all =
        () -> {
          if (api != null) api.close();
          closing.run();
          if (monitoring != null) monitoring.close();
          if (export != null) export.close();
        };
    Runtime.getRuntime().addShutdownHook(new Thread(all, "stoa-stop"));
  }

  // ---- one of several

  /// Returns whether it keeps its store together with others, or did so at its last run.
  private boolean isOneOfSeveral() {
    boolean told = replicated || join != null;
    if (replicated && join != null) {
      throw new IllegalArgumentException(
          "--replicated begins a store and --join goes to one that is there; give one of them");
    }
    if (data.equals("memory:")) {
      if (told) throw new IllegalArgumentException("--data memory: cannot be kept by several");
      return false;
    }
    if (told && shards > 1) {
      throw new IllegalArgumentException("--shards is for a server that keeps its store alone");
    }
    if (!replicated && Takeover.isBrokenOff(Path.of(data))) {
      throw new IllegalArgumentException(
          data
              + " is becoming that of one of several servers, which was broken off; start it with"
              + " --replicated and the same options as then");
    }
    boolean was = ServerDirectory.was(Path.of(data));
    for (String option : List.of("--groups", "--replicas")) {
      if (replicated || was || !isGiven(option)) continue;
      throw new IllegalArgumentException(
          option + " is for the first of several servers; give it together with --replicated");
    }
    return told || was;
  }

  private boolean isGiven(String option) {
    return Objects.requireNonNull(spec).commandLine().getParseResult().hasMatchedOption(option);
  }

  private int serveTogether(
      ServerConfig config,
      HttpDoor.@Nullable Config door,
      @Nullable TraceExport export,
      ClassLoader loader,
      PrintWriter out,
      PrintWriter err)
      throws InterruptedException {
    ListenAddress peer =
        peers != null ? ListenAddress.of(peers) : new ListenAddress(config.host(), 0);
    Secret known = secret.value();
    boolean hasSecret = known != null || !ServerDirectory.hasNoSecret(Path.of(data));
    if (!hasSecret && security() == null && !insecure) {
      throw new IllegalArgumentException(
          data
              + " is of a store without a secret of the servers, as earlier versions created them:"
              + " everyone who can connect to "
              + peer
              + " could read and delete the store. Stop all servers, write one secret with openssl"
              + " rand -hex 32 into a file of mode 600, and start each server with --secret FILE."
              + " Or give --tls-certificate, --tls-key and --tls-authorities, or --insecure if all"
              + " users of this machine and its networks are trusted");
    }
    if (replicated && Takeover.isOfLoneServer(Path.of(data))) {
      String own = name == null ? "s1" : name;
      err.println("stoa: this server takes over the store that it kept alone ...");
      Takeover.run(
          Path.of(data),
          new ServerDirectory.First(own, peer.host(), peer.port(), groups, replicas, known));
    }
    var options =
        new ClusterOptions(
            Path.of(data),
            config,
            name,
            peer.host(),
            peer.port(),
            known,
            security(),
            groups,
            replicas,
            Duration.ofSeconds(replaceAfter),
            join,
            new Contacting(),
            store(loader),
            loader,
            admissible(loader),
            Machine.real());
    ClusterServer server;
    try {
      server = ClusterServer.start(options);
    } catch (IOException failed) {
      throw cannotStart(config, failed);
    }
    server.server().settle(Path.of(data));
    if (export != null) server.server().trace(export.tracer());
    HttpApi api = api(door, config, server.server(), loader, server::measure);
    Monitoring monitoring =
        monitoring(door, server.server(), server::measure, api, export, server::close);
    stopWithProcess(server::close, monitoring, api, export);
    ready(out, config, server.port(), door, monitoring);
    Throwable failure = server.awaitClosed();
    if (failure == null) return 0;
    err.println(
        "stoa: server "
            + server.name()
            + " has stopped, the others go on: "
            + failure.getMessage()
            + "; mend that, and start it again");
    return 1;
  }

  private NodeConfig.@Nullable Tls security() {
    Path pem = certificate;
    Path privateKey = key;
    Path trusted = authorities;
    return pem == null || privateKey == null || trusted == null
        ? null
        : new NodeConfig.Tls(readable(pem), own(privateKey), readable(trusted), this::isMember);
  }

  /// Returns whether the owner of a certificate is a server, as the identities say now.
  private boolean isMember(X509Certificate certificate) {
    if (identities == null) return true;
    try {
      var proof = Proof.certificate(certificate);
      return source().read().isMember(proof, System.currentTimeMillis());
    } catch (IOException unreadable) {
      return false;
    }
  }

  private final class Contacting implements Contact {
    @Override
    public void join(String server, String member, @Nullable Secret known) {
      var operator = new Operator(Objects.requireNonNull(join), authorities, tokenFile, "--join");
      boolean shows = identities != null && tokenFile == null && authorities != null;
      if (shows) operator.showing(certificate, key);
      var request = JoinRequest.newBuilder().setServer(server).setMember(member).build();
      JoinReply reply =
          operator.insist(
              asked -> ServersSecret.join(asked, request, known),
              answer -> !answer.getRefusal().isEmpty());
      if (!reply.getRefusal().isEmpty()) throw new IllegalArgumentException(reply.getRefusal());
    }
  }

  private ServerConfig config() {
    ListenAddress address = ListenAddress.of(listen);
    boolean knows = tokenFile != null || identities != null;
    boolean secured = certificate != null && key != null && knows;
    if (!address.isLocal() && !secured && !insecure) {
      throw new IllegalArgumentException(
          address
              + " can be reached from other machines; give --tls-certificate, --tls-key and"
              + " --identities or --token-file, or --insecure if the network is trusted");
    }
    ServerConfig config = ServerConfig.of(address.host(), address.port()).withTreeFanOut(fanOut);
    if (clientClasses) config = config.withClientClasses();
    Path pem = certificate;
    Path privateKey = key;
    if ((pem == null) != (privateKey == null)) {
      throw new IllegalArgumentException("--tls-certificate and --tls-key go together; give both");
    }
    if (pem != null && privateKey != null) {
      config = config.withTls(readable(pem), own(privateKey));
    }
    Path signers = clientAuthorities;
    if (signers != null) {
      if (identities == null) {
        throw new IllegalArgumentException(
            "--tls-client-authorities needs --identities, which names the clients with certificates");
      }
      config = config.withAuthorities(readable(signers));
    }
    return config.withIdentities(source());
  }

  /// Returns where the clients are from that the server knows. It refuses an unusable file at once.
  private IdentitySource source() {
    Path named = identities;
    Path tokens = tokenFile;
    IdentitySource source = IdentitySource.NONE;
    if (named != null) source = new IdentitySource.Named(readable(named));
    else if (tokens != null) source = new IdentitySource.Tokens(readable(tokens));
    try {
      var _ = source.read();
      return source;
    } catch (IOException e) {
      throw new IllegalArgumentException(source + " cannot be read: " + e.getMessage(), e);
    }
  }

  private static Path readable(Path file) {
    if (Files.isReadable(file)) return file;
    throw new IllegalArgumentException(file + " is not there or cannot be read");
  }

  /// Returns a private file.
  private static Path own(Path file) {
    try {
      Permissions.requirePrivate(readable(file));
      return file;
    } catch (IOException e) {
      throw new IllegalArgumentException(file + " cannot be read: " + e.getMessage(), e);
    }
  }

  private ClassLoader loader(PrintWriter err) {
    if (classpath == null) return ServeCommand.class.getClassLoader();
    return UserClasses.open(path(), err::println);
  }

  /// Returns the jar files and directories with shared classes.
  private List<Path> path() {
    var files = new ArrayList<Path>();
    String path = classpath;
    if (path == null) return files;
    for (String file : path.split(File.pathSeparator, -1)) {
      if (!file.isEmpty()) files.add(Path.of(file));
    }
    return files;
  }

  private StoaConfig store(ClassLoader loader) {
    String url = data.equals("memory:") ? data : "file:" + data;
    if (shards > 1) url += "?shards=" + shards;
    var extra = new ArrayList<Class<?>>();
    for (String type : types) {
      try {
        extra.add(Class.forName(type, false, loader));
      } catch (ClassNotFoundException e) {
        throw new IllegalArgumentException(
            "--type " + type + ": there is no such class; put it on --classpath", e);
      }
    }
    StoaConfig config = StoaConfig.of(url).withTypes(extra).withAccepted(accepted.losses());
    if (keep.isEmpty()) return config;
    RetentionService.Rules rules = RetentionService.parse(keep);
    return config
        .withKeep(rules.keep())
        .withLimits(config.limits().withDiskBytesMax(rules.diskBytesMax()));
  }

  private static Server start(ServerConfig config, ObjectService service) {
    try {
      return Server.start(config, service);
    } catch (IOException | RuntimeException failed) {
      service.close();
      throw cannotStart(config, failed);
    }
  }

  private static IllegalArgumentException cannotStart(ServerConfig config, Exception failed) {
    return new IllegalArgumentException(
        "the server cannot be started at "
            + new ListenAddress(config.host(), config.port())
            + ": "
            + failed.getMessage()
            + "; when another one listens there, choose another address with --listen, port 0 for"
            + " any",
        failed);
  }
}
