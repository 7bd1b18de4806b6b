import { expect, test } from 'vitest';
import {
  fleetLimitFields,
  limitPatch,
  tenantLimitFields,
} from '../../../../../../services/dashboard/console/pages/tenants/limit-fields.ts';

const LIMITS = {
  running: 5,
  waiting: null,
  runningByClass: { user: 3 },
  runningByAgent: { 'a.b': 2 },
  rates: { user: { perMinute: 60, perHour: 1000, burst: 60 } },
};

test('each limit is beside its default, also those of agents', () => {
  const fields = tenantLimitFields(LIMITS, { running: 20, waiting: 100, runningByClass: { user: 15 } });
  const of = (path: string): unknown => fields.find((field) => field.path === path);
  expect(of('running')).toMatchObject({ value: 5, standard: 20 });
  expect(of('waiting')).toMatchObject({ value: null, standard: 100, isOptional: true });
  expect(of('runningByClass.user')).toMatchObject({ value: 3, standard: 15 });
  expect(of('runningByAgent.a.b')).toMatchObject({ value: 2, standard: null });
  expect(of('rates.user.perHour')).toMatchObject({ value: 1000, standard: null });
});

test('a change names only what was edited, and a rate with all its figures', () => {
  const fields = tenantLimitFields(LIMITS, null);
  expect(limitPatch({ running: 7 }, fields)).toEqual({ running: 7 });
  expect(limitPatch({ running: '', 'runningByClass.webhook': 4, 'runningByAgent.a.b': '' }, fields)).toEqual({
    running: null,
    runningByClass: { webhook: 4 },
    runningByAgent: { 'a.b': null },
  });
  expect(limitPatch({ 'rates.user.perMinute': 10 }, fields)).toEqual({ rates: { user: { perMinute: 10, perHour: 1000, burst: 60 } } });
  expect(limitPatch({ 'rates.user.perMinute': '', 'rates.user.perHour': '', 'rates.user.burst': '' }, fields)).toEqual({
    rates: { user: null },
  });
});

test('what the fleet runs at once cannot be taken away', () => {
  const [first] = fleetLimitFields({ maxConcurrent: 9 }, { maxConcurrent: 1000 });
  expect(first).toMatchObject({ path: 'maxConcurrent', value: 9, standard: 1000, isOptional: false });
});
