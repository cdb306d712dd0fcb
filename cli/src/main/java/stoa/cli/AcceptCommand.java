package stoa.cli;

import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import stoa.wire.proto.AcceptReply;
import stoa.wire.proto.AcceptRequest;

/// `stoa accept`: an object whose servers came to different states goes on with one of them.
@Command(
    name = "accept",
    description = "Ends the quarantine of an object; ./stoa status lists what is in quarantine.",
    footer = {
      "",
      "All servers go on with the state that the server has which has the store. What else they had",
      "is lost; look at the object's history first. It will differ again unless its class is mended.",
      "",
      "An object of which a call has ended the process of a server twice goes on without that call."
    })
final class AcceptCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;
  @Mixin private Operator operator = new Operator();

  @Parameters(paramLabel = "OBJECT", description = "The object, as ./stoa status calls it.")
  private String object = "";

  @Option(
      names = "--group",
      paramLabel = "N",
      description = "The group of the object, when several keep the store. Default: 0")
  private int group;

  private AcceptCommand() {}

  @Override
  public Integer call() {
    var commandLine = Objects.requireNonNull(spec).commandLine();
    AcceptReply reply =
        operator.ask(
            group,
            server ->
                server.accept(
                    AcceptRequest.newBuilder().setObject(object).setGroup(group).build()));
    if (reply.getRefusal().isEmpty()) {
      commandLine.getOut().println(object + " goes on with the state of the server that leads");
      return 0;
    }
    commandLine.getErr().println("stoa: " + reply.getRefusal());
    return 1;
  }
}
