/// The command line.
@org.jspecify.annotations.NullMarked
module stoa.cli {
  requires static transitive org.jspecify;
  requires stoa.bench;
  requires stoa.stacksync;
  requires stoa.node;
  requires stoa.objects;
  requires stoa.sim;
  requires stoa.weave;
  requires stoa.wire;
  requires io.grpc;
  requires io.grpc.netty.shaded;
  requires io.grpc.stub;
  requires info.picocli;
  requires java.logging;
  requires java.management;

  opens stoa.cli to
      info.picocli;

  provides stoa.sim.Scenario with
      stoa.cli.RemoteScenario;
}
