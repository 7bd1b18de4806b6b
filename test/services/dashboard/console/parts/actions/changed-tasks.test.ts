import { expect, test } from 'vitest';
import { changedTasks, type TaskActionTarget } from '../../../../../../services/dashboard/console/parts/actions/changed-tasks.ts';

const failed: TaskActionTarget = { filter: { status: ['permanently_failed'], agent: 'research', code: 'NETWORK_ERROR' } };

test('the link after a retry leaves out the status and the error that its tasks have lost', () => {
  expect(changedTasks('retry', failed, {}).href).toBe('/tasks?agent=research');
});

test('the link after a cancellation finds the cancelled tasks of the filter, whatever their status was', () => {
  const { href } = changedTasks('cancel', { filter: { status: ['pending', 'queued'], q: 'a b' } }, {});
  expect(href).toBe('/tasks?status=cancelled&q=a+b');
});

test('the link after a removal shows what is left of the filter', () => {
  expect(changedTasks('discard', failed, {}).href).toBe('/tasks?status=permanently_failed&agent=research&code=NETWORK_ERROR');
  expect(changedTasks('discard', { ids: ['a', 'b'] }, {}).href).toBe('/tasks');
});

test('one selected task has its own page, several have the list that they were selected in', () => {
  expect(changedTasks('retry', { ids: ['a'] }, { agent: 'research' }).href).toBe('/tasks/a');
  expect(changedTasks('retry', { ids: ['a', 'b'] }, { agent: 'research', status: ['failed'] }).href).toBe('/tasks?agent=research');
  expect(changedTasks('discard', { ids: ['a'] }, { agent: 'research' }).href).toBe('/tasks?agent=research');
});
