#include "client/sleepers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace lockc {
namespace {

using Place = Sleepers::Place;

bool same(const Place& a, const Place& b) { return a.bell == b.bell && a.bits == b.bits; }

// A thread that sleeps until its word says otherwise.
class Sleeper {
 public:
  explicit Sleeper(Sleepers& sleepers) : place_(sleepers.take_place()) {
    thread_ = std::thread([this] {
      while (word_ == 0) Sleepers::sleep(place_, word_, 0);
    });
  }
  ~Sleeper() { thread_.join(); }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;

  void tell(Sleepers& sleepers) {
    sleepers.leave_place(place_);
    word_ = 1;
    sleepers.wake_later(place_);
  }

 private:
  const Place place_;
  std::atomic<int> word_{0};
  std::thread thread_;
};

TEST(Sleepers, PlacesInUse_AreDistinct) {
  Sleepers sleepers;
  std::set<std::pair<const void*, uint32_t>> places;
  for (int i = 0; i < 1'000; ++i) {
    const Place place = sleepers.take_place();
    EXPECT_TRUE(places.emplace(place.bell, place.bits).second) << i;
  }
}

TEST(Sleepers, PlaceGivenBack_IsTheNextTaken) {
  Sleepers sleepers;
  std::vector<Place> places;
  for (int i = 0; i < 100; ++i) places.push_back(sleepers.take_place());
  sleepers.leave_place(places[70]);
  sleepers.leave_place(places[5]);
  EXPECT_TRUE(same(sleepers.take_place(), places[5]));
  EXPECT_TRUE(same(sleepers.take_place(), places[70]));
}

TEST(Sleepers, NewsOfOneTurn_WakeOncePerWord) {
  Sleepers sleepers;
  std::vector<Place> places;
  for (int i = 0; i < 40; ++i) places.push_back(sleepers.take_place());
  EXPECT_TRUE(sleepers.take().empty());
  for (const Place& place : places) sleepers.wake_later(place);
  EXPECT_EQ(sleepers.take().size(), 2U);
  EXPECT_TRUE(sleepers.take().empty());
}

TEST(Sleepers, EveryoneWithNews_Wakes) {
  Sleepers sleepers;
  std::vector<std::unique_ptr<Sleeper>> threads;
  for (int i = 0; i < 70; ++i) threads.push_back(std::make_unique<Sleeper>(sleepers));
  for (size_t i = 0; i < threads.size(); i += 2) threads[i]->tell(sleepers);
  Sleepers::wake(sleepers.take());
  for (size_t i = 0; i < threads.size(); i += 2) threads[i].reset();  // joins
  for (size_t i = 1; i < threads.size(); i += 2) threads[i]->tell(sleepers);
  Sleepers::wake(sleepers.take());
}

// Says that there are no news, and has some by then.
struct LateWord {
  const Place place;
  int load(std::memory_order) const {
    Sleepers::wake({place});
    return 0;
  }
};

TEST(Sleepers, NewsBetweenTheLookAndTheSleep_AreNotSleptOver) {
  Sleepers sleepers;
  const Place place = sleepers.take_place();
  Sleepers::sleep(place, LateWord{place}, 0);  // would last for ever
}

}  // namespace
}  // namespace lockc
