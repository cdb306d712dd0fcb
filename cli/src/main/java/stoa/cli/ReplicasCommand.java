package stoa.cli;

import java.io.PrintWriter;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import stoa.programs.Words;
import stoa.wire.proto.ReplicateReply;
import stoa.wire.proto.ReplicateRequest;
import stoa.wire.proto.StatusReply;
import stoa.wire.proto.StatusRequest;

/// `stoa replicas`: changes how many servers execute the calls of each group.
@Command(
    name = "replicas",
    description = "Changes how many servers execute the calls of each group.",
    footer = {
      "",
      "Clients continue meanwhile. Replicas come and go one at a time; ./stoa status",
      "shows how many of them each group has. With more replicas than servers, each",
      "server has one until others join. Below 3, other servers keep the group's log",
      "and execute nothing."
    })
final class ReplicasCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;
  @Mixin private Operator operator = new Operator();

  @Parameters(paramLabel = "N", description = "1, 2, 3 or 5.")
  private int replicas;

  private ReplicasCommand() {}

  @Override
  public Integer call() {
    var commandLine = Objects.requireNonNull(spec).commandLine();
    var request = ReplicateRequest.newBuilder().setReplicas(replicas).build();
    ReplicateReply reply = operator.ask(server -> server.replicate(request));
    if (reply.getRefusal().isEmpty()) {
      PrintWriter out = commandLine.getOut();
      out.println(
          "each group will have "
              + Words.count(replicas, "replica")
              + "; ./stoa status shows what moves");
      StatusReply status = operator.ask(to -> to.status(StatusRequest.getDefaultInstance()));
      ReplicaCount.advice(replicas, status).ifPresent(out::println);
      return 0;
    }
    commandLine.getErr().println("stoa: " + reply.getRefusal());
    return 1;
  }
}
