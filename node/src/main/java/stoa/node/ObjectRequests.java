package stoa.node;

import com.google.protobuf.ByteString;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;
import stoa.LimitExceeded;
import stoa.StoaException;
import stoa.TooOld;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.base.Answer;
import stoa.base.CallId;
import stoa.front.PlacedObjects;
import stoa.front.types.NotBrief;
import stoa.objects.ObjectService;
import stoa.store.calls.PriorOutcome;
import stoa.store.running.Request;
import stoa.wire.MessageForms;
import stoa.wire.proto.Call;
import stoa.wire.proto.Close;
import stoa.wire.proto.Delete;
import stoa.wire.proto.Keys;
import stoa.wire.proto.ListObjects;
import stoa.wire.proto.Open;

/// Executes requests on the present state of objects. Thread-safe.
///
/// Requests of one client on one object run in the lane of its container, in the order of their
/// arrival.
final class ObjectRequests {
  private static final int KEYS_MAX = 1_000;

  private final ServedGroup served;
  private final ObjectService service;

  ObjectRequests(ServedGroup served) {
    this.served = served;
    this.service = served.service();
  }

  // ---- containers

  void open(PendingRequest asked, Open open) {
    Session session = asked.session();
    if (session.containers.size() >= served.config().containersMax()) {
      throw new LimitExceeded(
          "the session has "
              + session.containers.size()
              + " objects open (containersMax); close some");
    }
    var container = new OpenObject(open.getType(), new Lane(session.threads.calls()));
    session.containers.put(open.getContainer(), container);
    byte[] key = open.getKey().toByteArray();
    Runnable opening =
        () ->
            asked.attempt(() -> {
              try {
                container.opened(service.container(open.getType(), key));
                return Forms.done();
              } catch (Throwable failed) {
                container.failed(failed);
                throw failed;
              }
            });
    if (service.isKnown(open.getType()) && isPlain(key)) container.lane().quick(opening);
    else container.lane().slow(opening);
  }

  /// Returns whether decoding a key runs no users' code.
  private static boolean isPlain(byte[] key) {
    return stoa.front.types.Keys.isPlain(key);
  }

  void close(PendingRequest asked, Close close) {
    int number = close.getContainer();
    OpenObject container = asked.session().containers.remove(number);
    Runnable closing =
        () -> {
          asked.session().unfollow(number);
          asked.answer(Forms.done());
        };
    if (container == null) closing.run();
    else container.lane().quick(closing);
  }

  // ---- calls

  /// Begins a call, or begins to look for it in the log if it may be there.
  void call(PendingRequest asked, Call call) {
    OpenObject container = asked.session().container(call.getContainer());
    if (asked.isAgain()) container.lane().slow(() -> again(asked, container, call));
    else container.lane().quick(() -> start(asked, container, call));
  }

  /// Makes a call on an object at clients. Its result is not in the log under the call's number.
  private void atRoot(PendingRequest asked, ObjectService.Call call) {
    asked.onCalls(() -> rooted(call));
  }

  private stoa.wire.proto.Answer.Builder rooted(ObjectService.Call call) {
    ObjectService.PlacedAnswer answer = service.callPlaced(call);
    return Forms.answered(answer.encoded(), answer.generation(), answer.reach());
  }

  /// Begins a call; hands it on when it would take long.
  private void start(PendingRequest asked, OpenObject container, Call call) {
    try {
      var made = Forms.call(container.object(), call);
      asked.calls(made);
      if (asked.isAllowedPartly())
        container.lane().goOn(() -> startAllowed(asked, container, made));
      else if (service.isPlaced(made.container())) placed(asked, container, made);
      else if (service.isQuick(made)) runBriefly(asked, container, made, () -> {});
      else container.lane().goOn(() -> run(asked, made));
    } catch (RuntimeException | LinkageError | StackOverflowError refused) {
      asked.fail(refused);
    }
  }

  /// Begins a call as far as the roles of the client allow it. May wait for the disk.
  private void startAllowed(PendingRequest asked, OpenObject container, ObjectService.Call made) {
    try {
      ObjectService.Call allowed = asked.allowed(made, service::generation);
      if (service.isPlaced(made.container())) placed(asked, container, allowed);
      else run(asked, allowed);
    } catch (RuntimeException | LinkageError | StackOverflowError refused) {
      asked.fail(refused);
    }
  }

  /// Begins a call on an object that migrates.
  private void placed(PendingRequest asked, OpenObject container, ObjectService.Call call) {
    Runnable ended = service.enter(call);
    if (ended == null) atRoot(asked, call);
    else runBriefly(asked, container, call, ended);
  }

  private void run(PendingRequest asked, ObjectService.Call call) {
    run(asked, call, () -> {});
  }

  private interface Beginning {
    Request begin() throws Throwable;
  }

  /// Begins a call; hands it on when decoding its arguments would take long.
  private void runBriefly(
      PendingRequest asked, OpenObject container, ObjectService.Call call, Runnable ended) {
    try {
      run(asked, call, ended, () -> service.beginBriefly(call, asked.callTimeLeft(), asked.id()));
    } catch (NotBrief later) {
      container.lane().goOn(() -> run(asked, call, ended));
    }
  }

  /// @param ended runs once when the call has ended
  private void run(PendingRequest asked, ObjectService.Call call, Runnable ended) {
    run(asked, call, ended, () -> service.begin(call, asked.callTimeLeft(), asked.id()));
  }

  /// Begins a call that may have waited at an earlier server.
  private void runAgain(PendingRequest asked, ObjectService.Call call) {
    CallId id = asked.id();
    run(
        asked,
        call,
        () -> {},
        () -> {
          long arrived = service.arrived(call, id, asked.since());
          return service.beginAgain(call, asked.callTimeLeft(), id, arrived);
        });
  }

  private void run(
      PendingRequest asked, ObjectService.Call call, Runnable ended, Beginning beginning) {
    Request request;
    try {
      asked.checkTime();
      request = asked.traced(beginning::begin);
    } catch (NotBrief later) {
      throw later;
    } catch (VirtualMachineError beyond) {
      ended.run();
      asked.fail(new Unavailable("the server failed: " + beyond, beyond));
      return;
    } catch (Throwable refused) {
      ended.run();
      if (refused instanceof StoaException || refused instanceof IllegalArgumentException)
        asked.fail(refused);
      else asked.answer(Forms.answered(service.thrown(refused), 0, service.moment()));
      return;
    }
    request.whenDone(settled -> {
      ended.run();
      try {
        if (settled.isMoved()) askWhole(asked, call, settled);
        else if (service.isLent(settled)) atRoot(asked, call);
        else
          asked.answer(
              Forms.answered(service.encoded(settled), settled.generation(), settled.reach()));
      } catch (RuntimeException | LinkageError | StackOverflowError failed) {
        asked.fail(failed);
      }
    });
  }

  private void askWhole(PendingRequest asked, ObjectService.Call call, Request moved) {
    asked.onCalls(() -> {
      try {
        ObjectService.PlacedAnswer whole = service.askWhole(call, moved);
        return Forms.answered(whole.encoded(), whole.generation(), whole.reach());
      } catch (PlacedObjects.LentToClients lent) {
        return rooted(call);
      }
    });
  }

  private void again(PendingRequest asked, OpenObject container, Call call) {
    ObjectService.Call made;
    try {
      made = asked.allowed(Forms.call(container.object(), call), service::generation);
      asked.traces(made);
      if (service.isPlaced(made.container())) {
        atRoot(asked, made); // a question: others are not asked again
        return;
      }
      PriorOutcome earlier = earlier(asked, container, "call");
      if (earlier != null) {
        Answer answer = earlier.answer();
        if (answer != null && answer.isWaiting()) {
          runAgain(asked, made); // it has changed nothing, and waits here again
          return;
        }
        if (answer == null)
          throw new IllegalArgumentException("the request deleted the object when it came before");
        if (service.isLent(answer)) {
          throw new UnknownOutcome(
              "the object was lent to clients when the call came before, and the server that was"
                  + " to make it there is gone; look whether it was made");
        }
        asked.answer(Forms.answered(answer.encoded(), earlier.generation(), earlier.counter()));
        return;
      }
    } catch (RuntimeException | LinkageError | StackOverflowError failed) {
      asked.fail(failed);
      return;
    }
    runAgain(asked, made);
  }

  void delete(PendingRequest asked, Delete delete) {
    OpenObject container = asked.session().container(delete.getContainer());
    if (asked.isAgain()) container.lane().slow(() -> deleteAgain(asked, container, delete));
    else container.lane().quick(() -> delete(asked, container, delete));
  }

  private void deleteAgain(PendingRequest asked, OpenObject container, Delete delete) {
    try {
      PriorOutcome earlier = earlier(asked, container, "deletion");
      if (earlier != null) asked.answer(Forms.done(earlier.generation()));
      else delete(asked, container, delete);
    } catch (RuntimeException | LinkageError | StackOverflowError failed) {
      asked.fail(failed);
    }
  }

  private void delete(PendingRequest asked, OpenObject container, Delete delete) {
    try {
      asked.checkTime();
      var existence = MessageForms.existence(delete.getExistence());
      if (service.isPlaced(container.object())) {
        asked.onCalls(() -> {
          long ended = service.deletePlaced(container.object(), existence, asked.id());
          return Forms.done(ended).setReach(service.moment());
        });
        return;
      }
      asked
          .traced(() -> service.delete(container.object(), existence, asked.timeLeft(), asked.id()))
          .whenDone(settled -> {
            try {
              deleted(asked, container, settled);
            } catch (RuntimeException | LinkageError | StackOverflowError failed) {
              asked.fail(failed);
            }
          });
    } catch (RuntimeException | LinkageError | StackOverflowError failed) {
      asked.fail(failed);
    }
  }

  /// Answers a deletion, when no client calls the object any more.
  private void deleted(PendingRequest asked, OpenObject container, Request settled) {
    var done = Forms.done(settled.number()).setReach(settled.reach());
    if (service.mayBeLent(container.object())) {
      asked.onCalls(() -> {
        service.deleted(container.object());
        return done;
      });
    } else {
      asked.answer(done);
    }
  }

  /// Returns what an earlier server logged of a request; null for nothing.
  private @Nullable PriorOutcome earlier(PendingRequest asked, OpenObject container, String what) {
    try {
      return service.earlier(container.object(), asked.id(), asked.since());
    } catch (TooOld old) {
      throw new UnknownOutcome("what became of the " + what + " is too long ago to be known", old);
    }
  }

  // ---- listings

  /// Returns a page of a listing. The session keeps the rest of it; when that is gone, the listing
  /// begins anew after as many keys as were sent.
  stoa.wire.proto.Answer.Builder list(Session session, ListObjects list) {
    ByteString page = list.getPage();
    var listing = session.listing(page.toStringUtf8());
    if (listing == null) {
      int told = page.isEmpty() ? 0 : Listings.told(page.toStringUtf8());
      Iterator<byte[]> all = service.list(list.getType());
      for (int i = 0; i < told && all.hasNext(); i++) all.next();
      listing = new Listings.Rest(all, told);
    }
    var keys = Keys.newBuilder();
    Iterator<byte[]> rest = listing.keys();
    while (rest.hasNext() && keys.getKeysCount() < KEYS_MAX) {
      keys.addKeys(ByteString.copyFrom(rest.next()));
    }
    if (rest.hasNext()) {
      var left = new Listings.Rest(rest, listing.told() + keys.getKeysCount());
      keys.setNext(ByteString.copyFromUtf8(session.keep(left, service.owner())));
    }
    return Forms.answer(service.moment()).setKeys(keys);
  }
}
