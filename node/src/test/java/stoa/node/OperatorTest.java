package stoa.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import stoa.ConnectionSecurity;
import stoa.Shared;
import stoa.StoaConfig;
import stoa.objects.ObjectService;
import stoa.spi.Cancellation;
import stoa.wire.Channels;
import stoa.wire.SingleRequests;
import stoa.wire.proto.CallStatus;
import stoa.wire.proto.CancelRequest;
import stoa.wire.proto.StatusRequest;

/// The commands of an operator, and their answers.
class OperatorTest {
  private static final AtomicInteger RUNNING = new AtomicInteger();

  /// A class with the check that the weaver puts into each loop.
  @Shared
  static class Endless {
    private long turns;

    protected Endless() {}

    public long spin() {
      RUNNING.incrementAndGet();
      try {
        while (turns >= 0) {
          Cancellation.check();
          turns = (turns + 1) & Long.MAX_VALUE;
        }
        return turns;
      } finally {
        RUNNING.decrementAndGet();
      }
    }

    public long turns() {
      return turns;
    }
  }

  private static CallStatus waiting(SingleRequests operator) {
    while (true) {
      for (var call : operator.status(StatusRequest.getDefaultInstance()).getCallsList()) {
        if (call.getMethod().contains("turns") && !call.getRunning()) return call;
      }
      Thread.onSpinWait();
    }
  }

  private static CallStatus running(SingleRequests operator) {
    while (true) {
      for (var call : operator.status(StatusRequest.getDefaultInstance()).getCallsList()) {
        if (call.getMethod().contains("spin") && call.getRunning()) return call;
      }
      Thread.onSpinWait();
    }
  }

  @Test
  void anEndlessCallIsSeenAndCancelledWhileOthersGoOn() throws Exception {
    try (var channels = new Channels(ConnectionSecurity.none());
        Server server =
            Server.start(
                ServerConfig.of("127.0.0.1", 0),
                ObjectService.open(StoaConfig.of("memory:"), _ -> true));
        var stuck = new RawClient(server.port());
        var other = new RawClient(server.port())) {
      var operator = RawClient.questions(channels, server.port());
      long session = stuck.open().getSession();
      other.open();
      stuck.ask(RawClient.use(1, Endless.class));
      int spin = stuck.number(2, Endless.class, "spin()");
      int turns = stuck.number(3, Endless.class, "turns()");
      stuck.ask(RawClient.open(4, 1, Endless.class, "e"));
      // The object is there: who waits for it waits in its queue.
      stuck.ask(RawClient.call(5, 1, turns));
      stuck.send(RawClient.call(6, 1, spin));
      CallStatus call = running(operator);
      stuck.send(RawClient.call(7, 1, turns));
      for (CallStatus one : new CallStatus[] {call, waiting(operator)}) {
        assertEquals(session, one.getSession(), one::toString);
        assertTrue(one.getPeer().contains("127.0.0.1"), one::toString);
      }

      other.ask(RawClient.use(1, Counter.class));
      int increment = other.number(2, Counter.class, "increment()");
      other.ask(RawClient.open(3, 1, Counter.class, "c"));
      for (int i = 4; i < 104; i++) {
        assertTrue(other.ask(RawClient.call(i, 1, increment)).hasAnswered());
      }
      var status = operator.status(StatusRequest.getDefaultInstance());
      assertEquals(2, status.getSessionsCount());
      assertTrue(status.getCallsAnswered() >= 100, status::toString);
      assertEquals(1, status.getShardsCount());
      assertTrue(status.getShards(0).getLogBytes() > 0, status::toString);
      while (operator.status(StatusRequest.getDefaultInstance()).getSyncsPerSecond() == 0) {
        Thread.onSpinWait();
      }

      var cancel = CancelRequest.newBuilder().setId(call.getId()).build();
      assertTrue(operator.cancel(cancel).getCancelled());
      // Each call is answered when it ends, in whatever order.
      for (int i = 0; i < 2; i++) {
        var ended = stuck.answer();
        assertEquals(ended.getSequence() == 6, ended.hasFailure(), ended::toString);
        assertEquals(ended.getSequence() == 7, ended.hasAnswered(), ended::toString);
      }
      while (RUNNING.get() > 0) Thread.onSpinWait();
      var next = stuck.ask(RawClient.call(8, 1, turns));
      assertTrue(next.hasAnswered(), next::toString);

      var again = operator.cancel(cancel);
      assertFalse(again.getCancelled());
      assertTrue(again.getWhy().contains(call.getId()), again::getWhy);
      assertFalse(operator.cancel(CancelRequest.newBuilder().setId("x").build()).getCancelled());
    }
  }
}
