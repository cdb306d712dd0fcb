package stoa.cli;

import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import stoa.base.Secret;
import stoa.wire.proto.DrainReply;
import stoa.wire.proto.DrainRequest;

/// `stoa drain`: removes one of several servers from the store.
@Command(
    name = "drain",
    description = "Removes a server from the store; ./stoa status lists the servers.",
    footer = {
      "",
      "Clients continue meanwhile. The replicas of the server move to others, as far",
      "as there are any; then the server deletes them and ends. A dead server is",
      "removed in the same way. The command needs the secret of the servers: --secret",
      "FILE, with a copy of cluster.secret."
    })
final class DrainCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;
  @Mixin private Operator operator = new Operator();
  @Mixin private ServersSecret secret = new ServersSecret();

  @Parameters(paramLabel = "NAME", description = "The name of the server.")
  private String name = "";

  private DrainCommand() {}

  @Override
  public Integer call() {
    var commandLine = Objects.requireNonNull(spec).commandLine();
    commandLine.getOut().println("asking to drain " + name + "; ./stoa status shows what moves");
    commandLine.getOut().flush();
    Secret known = secret.value();
    var request = DrainRequest.newBuilder().setServer(name).build();
    DrainReply reply =
        operator.insist(
            server -> ServersSecret.drain(server, request, known),
            answer -> !answer.getRefusal().isEmpty());
    if (reply.getRefusal().isEmpty()) {
      commandLine.getOut().println("server " + name + " is out");
      return 0;
    }
    commandLine.getErr().println("stoa: " + reply.getRefusal());
    return 1;
  }
}
