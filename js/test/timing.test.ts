import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clockOf, systemTiming } from '../../dist/timing.js';

void test('a clock counts sleep and never goes back', () => {
  let [steady, wall] = [5, 1_000_000];
  const now = clockOf(
    () => steady,
    () => wall,
  );
  assert.equal(now(), 0);
  [steady, wall] = [105, 1_000_100];
  assert.equal(now(), 100);
  // A sleep that only the wall clock notices, and one that both do.
  wall += 3_600_000;
  assert.equal(now(), 3_600_100);
  [steady, wall] = [steady + 500, wall + 500];
  assert.equal(now(), 3_600_600);
  // Somebody sets the clock back: time goes on.
  [steady, wall] = [steady + 10, wall - 86_400_000];
  assert.equal(now(), 3_600_610);
  [steady, wall] = [steady + 10, wall + 10];
  assert.equal(now(), 3_600_620);
});

void test('the timing of the platform', async () => {
  const before = systemTiming.now();
  await new Promise<void>((resolve) => {
    systemTiming.after(1, resolve);
  });
  assert.ok(systemTiming.now() > before);
  const cancelled = systemTiming.after(1, () => {
    assert.fail('a cancelled timer runs');
  });
  cancelled();
  await new Promise<void>((resolve) => {
    systemTiming.after(5, resolve);
  });
  const chance = systemTiming.random();
  assert.ok(chance >= 0 && chance < 1);
});
