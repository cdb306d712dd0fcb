package stoa.demo;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import stoa.Stoa;
import stoa.classifier.Application;
import stoa.classifier.Classifier;
import stoa.classifier.Model;
import stoa.classifier.run.Federation;
import stoa.cli.Operator;
import stoa.cli.ServerProcess;
import stoa.migration.MemberPlace;
import stoa.migration.core.NodeId;
import stoa.programs.ChildProcess;
import stoa.wire.proto.StatusRequest;
import stoa.wire.proto.TreeStatus;

/// A server and networks that train shared classifiers, each in a process of its own: the clients
/// are the tree. This process is a member, too, which reads each model after its update.
///
/// One thread runs it.
final class NetworkProcesses {
  private static final List<String> FLAGS = List.of("-Xmx512m");

  private final Path directory;
  private final Federation.Settings settings;
  private final @Nullable Path records;
  private final List<Federation.Update> updates = new ArrayList<>(); // guarded by itself
  private final Map<Application, String> last = new EnumMap<>(Application.class); // by updates
  private final Map<MemberPlace, List<Application>> places = new LinkedHashMap<>(); // by updates
  private final Map<String, String> names = new HashMap<>();

  /// @param directory of the server's store
  /// @param records a larger file of records; null is the sample
  NetworkProcesses(Path directory, Federation.Settings settings, @Nullable Path records) {
    this.directory = directory;
    this.settings = settings;
    this.records = records;
  }

  /// Lets them train with all records, until all updates are durable and all networks have left.
  ///
  /// @param count the number of records
  /// @param shared receives the models of the classifiers
  /// @throws IllegalStateException when a process failed
  Federation.Result train(int count, Map<Application, Model> shared)
      throws IOException, InterruptedException {
    int most = 3 * count / settings.records() / 4;
    List<ChildProcess> all = new ArrayList<>();
    try (var server = ServerProcess.start(directory);
        var stoa = Stoa.open(server.url())) {
      try {
        for (int i = 0; i < settings.networks(); i++) all.add(start(server.url(), i));
        for (var child : all) expect(child, NetworkCommand.READY);
        long start = System.nanoTime();
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
          List<Future<?>> following = new ArrayList<>();
          for (var child : all) {
            following.add(
                threads.submit(() -> {
                  follow(child, stoa, server, most);
                  return null;
                }));
          }
          for (var each : following) await(each);
        }
        long nanos = System.nanoTime() - start;
        for (var child : all) child.endInput();
        for (var child : all) end(child);
        for (var each : Application.values()) {
          shared.put(each, stoa.get(Classifier.class, each.name()).model());
        }
        return new Federation.Result(List.copyOf(updates), places, nanos);
      } finally {
        all.forEach(ChildProcess::close);
      }
    }
  }

  private ChildProcess start(String url, int number) throws IOException {
    var arguments =
        new ArrayList<>(
            List.of(
                "network",
                "--url",
                url,
                "--number",
                "" + number,
                "--networks",
                "" + settings.networks(),
                "--update",
                "" + settings.records()));
    Path file = records;
    if (file != null) arguments.addAll(List.of("--records", file.toString()));
    var child =
        ChildProcess.start(
            ChildProcess.command(
                List.of(), Main.class.getName(), FLAGS, ChildProcess.classPath(), arguments));
    names.put("process " + child.id(), "network " + (number + 1));
    return child;
  }

  private static void expect(ChildProcess child, String line) throws IOException {
    var said = child.line();
    if (said.equals(Optional.of(line))) return;
    throw new IllegalStateException(
        "a network said "
            + said.orElse("nothing")
            + " and not "
            + line
            + "; its errors stand above");
  }

  private static void await(Future<?> following) throws InterruptedException {
    try {
      var _ = following.get();
    } catch (ExecutionException failed) {
      throw new IllegalStateException("a network failed: " + failed.getCause(), failed);
    }
  }

  private static void end(ChildProcess child) throws InterruptedException {
    int code = child.await();
    if (code != 0) throw new IllegalStateException("a network ended with " + code);
  }

  /// Reads what a network says until it has trained.
  private void follow(ChildProcess child, Stoa stoa, ServerProcess server, int most)
      throws IOException {
    String name = names.getOrDefault("process " + child.id(), "");
    child.write(NetworkCommand.GO);
    while (true) {
      String line = child.line().orElseThrow(() -> new IOException(name + " has ended"));
      if (line.equals(NetworkCommand.TRAINED)) return;
      String[] words = line.split(" ", -1);
      if (!line.startsWith(NetworkCommand.UPDATED) || words.length != 3) {
        throw new IOException(name + " said " + line);
      }
      var application = Application.valueOf(words[1]);
      Model model = stoa.get(Classifier.class, application.name()).model();
      synchronized (updates) {
        updates.add(new Federation.Update(name, application, model, Long.parseLong(words[2])));
        last.put(application, name);
        if (updates.size() == most) look(server);
      }
    }
  }

  /// The tree as the server knows it; a classifier is where it was updated last.
  private void look(ServerProcess server) {
    List<TreeStatus> members =
        new Operator(server.address(), null, null, "--processes")
            .ask(asked -> asked.status(StatusRequest.getDefaultInstance()).getTreeList());
    Map<String, NodeId> nodes = new HashMap<>();
    for (var member : members) {
      String name = names.get(member.getName());
      if (name != null) nodes.put(member.getNode(), new NodeId(name, nodes.size() + 1));
    }
    for (var member : members) {
      NodeId node = nodes.get(member.getNode());
      if (node == null) continue;
      List<Application> here = new ArrayList<>();
      last.forEach((application, name) -> {
        if (name.equals(node.address())) here.add(application);
      });
      places.put(new MemberPlace(node, nodes.get(member.getParent()), List.of()), here);
    }
  }
}
