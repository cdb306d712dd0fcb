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

/// `stoa drain`: one of several servers keeps the store no more.
@Command(
    name = "drain",
    description = "Has a server keep the store no more; ./stoa status lists the servers.",
    footer = {
      "",
      "Clients go on meanwhile. What the server keeps goes to others, as far as there are any, and"
          + " is",
      "deleted at the server, which ends then. A server that is dead is taken out in the same way.",
      "It takes the secret of the servers: --secret FILE, with a copy of cluster.secret."
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
