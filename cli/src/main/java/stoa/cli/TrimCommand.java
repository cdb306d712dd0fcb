package stoa.cli;

import com.google.protobuf.ByteString;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import stoa.front.types.KeyText;
import stoa.programs.Words;
import stoa.wire.proto.Release;
import stoa.wire.proto.RetainReply;
import stoa.wire.proto.RetainRequest;

/// `stoa trim`: releases the past of objects now.
@Command(
    name = "trim",
    description =
        "Releases old versions of an object, or of all objects of a type, of a served store: for a"
            + " disk or quota that is full.",
    footer = {
      "",
      "The present stays, and what snapshots and calls in progress need. What is released cannot be",
      "read again. ./stoa keep says how much of the past the store keeps from now on; it releases as",
      "objects are used, and this command at once."
    })
final class TrimCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;
  @Mixin private Operator operator = new Operator();

  @Parameters(index = "0", paramLabel = "TYPE", description = "The stored name of a type.")
  private String type = "";

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "KEY",
      description = "The key of one object, as ./stoa objects prints it. Default: all objects")
  private @Nullable String key;

  @Option(
      names = "--versions",
      paramLabel = "N",
      description = "How many versions before the newest stay. Default: ${DEFAULT-VALUE}")
  private long versions;

  private TrimCommand() {}

  @Override
  public Integer call() {
    var line = Objects.requireNonNull(spec).commandLine();
    if (versions < 0) {
      throw new ParameterException(line, "--versions is " + versions + "; give 0 or more");
    }
    var release = Release.newBuilder().setType(type).setVersions(versions);
    if (key != null) release.setKey(ByteString.copyFrom(KeyText.encoded(key)));
    int groups = LookSource.Served.of(operator).groups();
    long all = 0;
    for (int group = 0; group < groups; group++) all += trim(group, release);
    line.getOut().println(Words.count(key == null ? all : 1, "object") + " trimmed");
    line.getOut().flush();
    return 0;
  }

  private long trim(int group, Release.Builder release) {
    long trimmed = 0;
    long skip = 0;
    do {
      var asked =
          RetainRequest.newBuilder().setGroup(group).setRelease(release.setSkip(skip)).build();
      RetainReply reply = operator.ask(group, server -> server.retain(asked));
      if (!reply.getRefusal().isEmpty()) throw new IllegalArgumentException(reply.getRefusal());
      trimmed += reply.getReleased();
      skip = reply.getNext();
    } while (skip > 0);
    return trimmed;
  }
}
