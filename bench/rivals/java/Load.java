import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/**
 * The shape of a load program in Java: arguments, workers (threads), records, and the talk with the
 * driver. The same as bench/load.h, whose records it writes.
 */
final class Load {
  /** What a worker does with the lock of one key. */
  interface Lock {
    void acquire();

    void release();
  }

  interface LockOf {
    Lock key(String key);
  }

  private static final long PROCESS_STRIDE = 100_000;
  private static final int FIELDS = 5;
  private static final int WARM_UP = 200;

  private final Map<String, String> given = new HashMap<>();

  Load(String[] arguments) {
    for (String word : arguments) {
      String[] parts = word.split("=", 2);
      given.put(parts[0], parts[1]);
    }
  }

  String text(String name, String otherwise) {
    return given.getOrDefault(name, otherwise);
  }

  long number(String name, long otherwise) {
    return Long.parseLong(text(name, Long.toString(otherwise)));
  }

  void run(LockOf locks) throws IOException, InterruptedException {
    warmUp(locks);
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
    System.out.println("ready");
    long begin = Long.parseLong(input.readLine());
    pause(begin - System.nanoTime()); // CLOCK_MONOTONIC
    long deadline = System.nanoTime() + (long) (Double.parseDouble(text("seconds", "10")) * 1e9);

    List<Worker> workers = new ArrayList<>();
    for (int index = 0; index < number("threads", 1); index++) {
      workers.add(new Worker(index, locks, deadline));
    }
    workers.forEach(Thread::start);
    for (Worker worker : workers) {
      worker.join();
    }
    write(workers);
    System.out.println("done");
    while (input.read() >= 0) {}
  }

  /** Lets the virtual machine compile what is measured: two threads that contend for a while. */
  private void warmUp(LockOf locks) throws InterruptedException {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      Lock lock = locks.key("bench:warm-up:" + number("process", 0));
      Thread thread =
          new Thread(
              () -> {
                for (int n = 0; n < WARM_UP; n++) {
                  lock.acquire();
                  lock.release();
                }
              });
      thread.start();
      threads.add(thread);
    }
    for (Thread thread : threads) {
      thread.join();
    }
  }

  private void write(List<Worker> workers) throws IOException {
    Path log = Path.of(text("log", "/dev/null"));
    try (OutputStream file = Files.newOutputStream(log)) {
      for (Worker worker : workers) {
        ByteBuffer bytes = ByteBuffer.allocate(worker.records.size() * FIELDS * Long.BYTES);
        bytes.order(ByteOrder.LITTLE_ENDIAN);
        for (long[] record : worker.records) {
          for (long value : record) {
            bytes.putLong(value);
          }
        }
        file.write(bytes.array());
      }
    }
  }

  private static void pause(long nanoseconds) {
    long end = System.nanoTime() + nanoseconds;
    for (long left = nanoseconds; left > 0; left = end - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }

  private final class Worker extends Thread {
    final List<long[]> records = new ArrayList<>();
    private final long id;
    private final Lock lock;
    private final long deadline;
    private final long hold = number("hold_us", 0) * 1000;
    private final long think = number("think_us", 0) * 1000;
    private final long pairs = number("pairs", 1000);

    Worker(int index, LockOf locks, long deadline) {
      long process = number("process", 0);
      boolean oneKey = text("keys", "own").equals("one");
      this.id = process * PROCESS_STRIDE + index;
      this.lock = locks.key(oneKey ? "bench:one" : "bench:" + process + ":" + index);
      this.deadline = deadline;
    }

    @Override
    public void run() {
      while (records.size() < pairs) {
        long asked = System.nanoTime();
        if (asked >= deadline) {
          return;
        }
        lock.acquire();
        long granted = System.nanoTime();
        pause(hold);
        long releasing = System.nanoTime();
        lock.release();
        records.add(new long[] {id, asked, granted, releasing, System.nanoTime()});
        pause(think);
      }
    }
  }
}
