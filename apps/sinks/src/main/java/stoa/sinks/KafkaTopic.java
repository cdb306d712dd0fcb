package stoa.sinks;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import stoa.Change;
import stoa.Changes;
import stoa.LogAddress;
import stoa.Stoa;
import stoa.Subscription;

/// Writes the changes of objects to a topic of Kafka, in the envelope of Debezium ([Envelope]). The
/// key of a record is the key of the object; a deletion is followed by a record without a value, so
/// that a compacted topic forgets the object. One thread uses it.
///
/// The records of whole transactions of the store are one transaction of Kafka. It also commits the
/// token, as the text beside an offset of the sink's consumer group. So a reader with
/// `isolation.level=read_committed` gets each change once, and no part of a transaction, whatever
/// dies when. The present objects with which the topic begins become visible all at once.
///
/// When the store has released changes behind the token, the sink begins anew: the present objects
/// follow in the topic, and a deletion and a record without a value for each object of the topic
/// that is gone. For this, the sink reads the topic and keeps a name for each object in memory. A
/// broker forgets the offsets of a group after `offsets.retention.minutes`, 7 days by default. A
/// sink that was away for longer begins anew, too.
public final class KafkaTopic {
  private static final Duration POLL = Duration.ofSeconds(1);

  private final Producer<String, @Nullable String> producer;
  private final Consumer<String, @Nullable String> offsets;
  private final String topic;
  private final TopicPartition mark;
  private final Records records = new Records();
  private boolean open;

  /// Takes over the topic: an earlier sink with the same `transactional.id` can write no more.
  ///
  /// @param producer with a `transactional.id` of its own, and serializers of strings
  /// @param offsets with a `group.id` of its own, `enable.auto.commit=false`,
  ///   `isolation.level=read_committed`, and deserializers of strings
  /// @param topic the topic; of one type, since the key of a record is the key of an object
  public KafkaTopic(
      Producer<String, @Nullable String> producer,
      Consumer<String, @Nullable String> offsets,
      String topic) {
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
  /// @throws org.apache.kafka.common.KafkaException when the broker refuses; after a fenced
  ///   producer, another sink writes the topic
  public <T> long run(Stoa stoa, Changes<T> what, Duration idleMax) throws InterruptedException {
    return Sink.run(records, stoa, what, null, idleMax);
  }

  /// Writes changes as [#run(Stoa, Changes, Duration)], and acknowledges what is in the topic.
  ///
  /// @param subscription holds the log for this sink; its position is not where the sink begins
  /// @param idleMax ends when no change comes for this time; null for never
  public <T> long run(
      Stoa stoa, Changes<T> what, Subscription subscription, @Nullable Duration idleMax)
      throws InterruptedException {
    return Sink.run(records, stoa, what, subscription, idleMax);
  }

  private void begin() {
    if (open) return;
    producer.beginTransaction();
    open = true;
  }

  private void send(String key, long time, @Nullable String value) {
    begin();
    // The commit fails when a record was not written.
    var _ = producer.send(new ProducerRecord<>(topic, null, time, key, value));
  }

  /// The topic as a target.
  private final class Records implements Target<RuntimeException> {
    private Departed departed = new Departed();

    @Override
    public @Nullable LogAddress token() {
      return KafkaTopic.this.token();
    }

    @Override
    public void beginSnapshot() {
      departed = new Departed();
      List<TopicPartition> parts =
          offsets.partitionsFor(topic).stream()
              .map(one -> new TopicPartition(topic, one.partition()))
              .toList();
      offsets.assign(parts);
      offsets.seekToBeginning(parts);
      Map<TopicPartition, Long> ends = offsets.endOffsets(parts);
      var left = new ArrayList<>(parts);
      while (!left.isEmpty()) {
        for (var record : offsets.poll(POLL)) {
          String value = record.value();
          if (value != null) departed.shown(value);
        }
        left.removeIf(part -> offsets.position(part) >= ends.getOrDefault(part, 0L));
      }
      offsets.unsubscribe();
    }

    @Override
    public void write(Change<?> change, Order.Place place, Envelope envelopes) {
      boolean isPresent = change instanceof Change.Present;
      boolean more = isPresent && !departed.present(change);
      String key = Json.text(change.at().object().key());
      long time = change.at().time().toEpochMilli();
      send(key, time, Json.text(envelopes.of(change, more ? place.open() : place)));
      if (change instanceof Change.Deleted) send(key, time, null);
    }

    @Override
    public void endSnapshot(LogAddress at, Order order, Envelope envelopes) {
      for (var deletion : departed.deletions(at, order, envelopes)) {
        long time = System.currentTimeMillis();
        send(deletion.key(), time, deletion.envelope());
        send(deletion.key(), time, null);
      }
    }

    @Override
    public void commit(LogAddress token) {
      begin();
      var noted = new OffsetAndMetadata(token.counter(), token.toString());
      producer.sendOffsetsToTransaction(Map.of(mark, noted), offsets.groupMetadata());
      producer.commitTransaction();
      open = false;
    }

    @Override
    public void rollback() {
      if (!open) return;
      open = false;
      producer.abortTransaction();
    }
  }
}
