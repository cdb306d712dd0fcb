package stoa.sinks;

import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import stoa.Change;
import stoa.ChangeStream;
import stoa.Changes;
import stoa.LogAddress;
import stoa.Stoa;

/// Writes the changes of objects to a topic of Kafka, in the envelope of Debezium ([Envelope]). The
/// key of a record is the key of the object; a deletion is followed by a record without a value, so
/// that a compacted topic forgets the object. One thread uses it.
///
/// The records of whole transactions of the store are one transaction of Kafka. It also commits the
/// token, as the text beside an offset of the sink's consumer group. So a reader with
/// `isolation.level=read_committed` gets each change once, and no part of a transaction, whatever
/// dies when. The present objects with which the topic begins become visible all at once.
///
/// A broker forgets the offsets of a group after `offsets.retention.minutes`, 7 days by default. A
/// sink that was away for longer begins anew with the present objects.
public final class KafkaTopic {
  // How many changes one transaction has at least, when more are there.
  private static final int BATCH = 500;

  private final Producer<String, @Nullable String> producer;
  private final Consumer<?, ?> offsets;
  private final String topic;
  private final TopicPartition mark;
  private boolean open;
  private @Nullable LogAddress committed;

  /// Takes over the topic: an earlier sink with the same `transactional.id` can write no more.
  ///
  /// @param producer with a `transactional.id` of its own, and serializers of strings
  /// @param offsets with a `group.id` of its own and `enable.auto.commit=false`; it reads nothing
  ///   but the token
  /// @param topic the topic
  public KafkaTopic(
      Producer<String, @Nullable String> producer, Consumer<?, ?> offsets, String topic) {
    this.producer = producer;
    this.offsets = offsets;
    this.topic = topic;
    mark = new TopicPartition(topic, 0);
    producer.initTransactions();
  }

  /// Returns the log address up to which the topic has the changes; null when it begins with the
  /// present objects.
  public @Nullable LogAddress token() {
    OffsetAndMetadata known = offsets.committed(Set.of(mark)).get(mark);
    return known == null || known.metadata().isEmpty() ? null : Envelope.address(known.metadata());
  }

  /// Writes changes until none comes for a time: from the token of the topic on, or first the
  /// present objects.
  ///
  /// @param idleMax the time
  /// @return how many changes it has written
  /// @throws stoa.TooOld when the store has released changes behind the token; delete the offsets
  ///   of the group to begin anew
  /// @throws org.apache.kafka.common.KafkaException when the broker refuses; after a fenced
  ///   producer, another sink writes the topic
  public <T> long run(Stoa stoa, Changes<T> what, Duration idleMax) throws InterruptedException {
    LogAddress known = token();
    committed = known;
    Changes<T> from = known == null ? what.fromPresent() : what.after(known);
    long written = 0;
    try (ChangeStream<T> changes = stoa.changes(from)) {
      int batch = 0;
      while (true) {
        var next = changes.poll();
        if (next.isEmpty()) {
          // The records become visible before this waits.
          if (batch > 0) commit(changes.token());
          batch = 0;
          next = changes.next(idleMax);
          if (next.isEmpty()) break;
        }
        Change<T> change = next.get();
        written++;
        batch++;
        boolean isWhole = isWhole(changes);
        write(change, written, isWhole ? written : 0);
        boolean ends = isWhole && change.at().isLast() && !(change instanceof Change.Present);
        if (!ends || batch < BATCH) continue;
        commit(changes.token());
        batch = 0;
      }
      LogAddress reached = changes.token();
      if (!reached.equals(committed)) commit(reached);
      return written;
    } finally {
      if (open) {
        open = false;
        producer.abortTransaction();
      }
    }
  }

  private static boolean isWhole(ChangeStream<?> changes) {
    try {
      var _ = changes.token();
      return true;
    } catch (IllegalStateException more) {
      return false;
    }
  }

  private void begin() {
    if (open) return;
    producer.beginTransaction();
    open = true;
  }

  private void write(Change<?> change, long order, long size) {
    begin();
    String key = Json.text(change.at().object().key());
    long time = change.at().time().toEpochMilli();
    send(key, time, Json.text(Envelope.of(change, order, size)));
    if (change instanceof Change.Deleted) send(key, time, null);
  }

  private void send(String key, long time, @Nullable String value) {
    // The commit fails when a record was not written.
    var _ = producer.send(new ProducerRecord<>(topic, null, time, key, value));
  }

  /// Commits the records together with their token.
  private void commit(LogAddress token) {
    begin();
    var noted = new OffsetAndMetadata(token.counter(), token.toString());
    producer.sendOffsetsToTransaction(Map.of(mark, noted), offsets.groupMetadata());
    producer.commitTransaction();
    open = false;
    committed = token;
  }
}
