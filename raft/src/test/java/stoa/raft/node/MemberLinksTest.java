package stoa.raft.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import stoa.raft.GroupId;
import stoa.raft.Member;
import stoa.raft.MemberNetwork;
import stoa.raft.Reach;

class MemberLinksTest {
  private static final String HOST = "127.0.0.1";
  private static final GroupId GROUP = new GroupId(1, 0);

  /// Groups tell of a member without its address for clients, its own messages with it. A way that
  /// began anew at each change would lose what is on it, and cost a handshake for each message.
  @Test
  void oneConnectionLeadsToAMemberInAllItsForms() throws Exception {
    var network = MemberNetwork.of(null, Reach.ALL);
    var received = new ArrayList<Byte>();
    var all = new CountDownLatch(100);
    try (var receiving =
            new MemberLinks(
                network,
                HOST,
                0,
                (_, message) -> {
                  synchronized (received) {
                    received.add(message[0]);
                  }
                  all.countDown();
                });
        var sending = new MemberLinks(network, HOST, 0, (_, _) -> {})) {
      var member = new Member("b", HOST, receiving.port(), 1);
      var expected = new ArrayList<Byte>();
      for (byte i = 0; i < 100; i++) {
        sending.send(form(member, i), GROUP, new byte[] {i});
        expected.add(i);
      }
      assertTrue(all.await(60, TimeUnit.SECONDS), "messages were lost");
      assertEquals(List.copyOf(expected), received);
    } finally {
      network.close();
    }
  }

  @Test
  void theEndOfAnotherProcessIsNoticed() throws Exception {
    var network = MemberNetwork.of(null, Reach.ALL);
    var arrived = new CountDownLatch(1);
    var ended = new LinkedBlockingQueue<String>();
    var other = new MemberLinks(network, HOST, 0, (_, _) -> arrived.countDown());
    var member = new Member("b", HOST, other.port(), 1);
    var noticing =
        new MemberLinks.Receiving() {
          @Override
          public void receive(GroupId group, byte[] message) {
            // No member sends to it.
          }

          @Override
          public void ended(String node) {
            ended.add(node);
          }
        };
    try (other;
        var sending = new MemberLinks(network, HOST, 0, noticing)) {
      sending.send(member, GROUP, new byte[] {1});
      assertTrue(arrived.await(60, TimeUnit.SECONDS), "the message was lost");
      other.close();
      // A member always has something to send.
      String noticed = null;
      while (noticed == null) {
        sending.send(member, GROUP, new byte[] {2});
        noticed = ended.poll(10, TimeUnit.MILLISECONDS);
      }
      assertEquals("b", noticed);
    } finally {
      network.close();
    }
  }

  private static Member form(Member member, int number) {
    return switch (number % 3) {
      case 0 -> member;
      case 1 -> member.withClients("127.0.0.1:7400");
      default -> new Member(member.id(), "-", 0, 0);
    };
  }
}
