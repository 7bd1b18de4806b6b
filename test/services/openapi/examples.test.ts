import { expect, it } from 'vitest';
import { driveTasks } from '../api/support/drive-tasks.ts';
import { useApi } from '../api/support/use-api.ts';
import { examplesOf } from './example-calls.ts';

const api = await useApi({ agents: { researcher: { kind: 'function', run: () => Promise.resolve('') } } });
const { call, examples } = examplesOf(api);
const drive = driveTasks(api.parts, 'default', 'worker-1');

it('the examples of the documentation are what the API was asked and what it answered; `npm run openapi` writes them', async () => {
  const chat = await call('sendMessage', 'POST', '/v1/sessions/web%2Fanna/messages', { text: 'What is new?', agent: 'researcher' });
  await drive.complete(chat.id, 'Three reports came in since yesterday.');
  const task = await call('submitTask', 'POST', '/v1/tasks', {
    agent: 'researcher',
    input: 'Summarise the reports of yesterday',
    session: 'web/anna',
    priority: 'high',
    metadata: { ticket: 'A-17' },
  });
  const waiting = await call('submitTask', 'POST', '/v1/tasks', { agent: 'researcher', input: 'And those of today', session: 'web/anna' });
  await call('submitTasks', 'POST', '/v1/tasks/bulk', {
    items: [
      { agent: 'researcher', input: 'One' },
      { agent: 'nobody', input: 'Two' },
    ],
  });
  await call('getSession', 'GET', '/v1/sessions/web%2Fanna');
  await call('listSessions', 'GET', '/v1/sessions?limit=1');
  await drive.complete(task.id, 'Two of the three reports are about the outage.');
  await call('getTask', 'GET', `/v1/tasks/${task.id}`);
  await call('listAttempts', 'GET', `/v1/tasks/${task.id}/attempts`);
  await call('getTimeline', 'GET', `/v1/tasks/${task.id}/timeline`);
  await call('getTranscript', 'GET', '/v1/sessions/web%2Fanna/transcript');
  await call('changePriority', 'POST', `/v1/tasks/${waiting.id}/priority`, { priority: 'low' });
  await drive.fail(waiting.id, null);
  await call('listFailures', 'GET', '/v1/failures');
  await call('listTasks', 'GET', '/v1/tasks?status=permanently_failed&limit=1');
  await call('retryTask', 'POST', `/v1/tasks/${waiting.id}/retry`);
  await call('cancelTask', 'POST', `/v1/tasks/${waiting.id}/cancel`, { reason: 'nobody needs it' });
  await call('stopSession', 'POST', '/v1/sessions/web%2Fanna/stop');

  const schedule = await call('createSchedule', 'POST', '/v1/schedules', {
    phrase: 'every weekday at 9',
    tz: 'Europe/Berlin',
    agent: 'researcher',
    message: 'Summarise what came in',
    name: 'The morning round',
  });
  await call('previewSchedule', 'POST', '/v1/schedules/preview', { phrase: 'every weekday at 9', tz: 'Europe/Berlin', count: 2 });
  const run = await call('runSchedule', 'POST', `/v1/schedules/${schedule.id}/run`);
  await drive.complete(run.id, 'Nothing came in.');
  await call('listScheduleRuns', 'GET', `/v1/schedules/${schedule.id}/runs`);
  await call('changeSchedule', 'PATCH', `/v1/schedules/${schedule.id}`, { status: 'paused' });

  await call('putBudget', 'PUT', '/v1/budgets/research', {
    scope: 'agent',
    of: 'researcher',
    per: 'day',
    tz: 'UTC',
    softMicroUsd: 4_000_000,
    hardMicroUsd: 5_000_000,
    atHard: 'pause',
  });
  await call('createKey', 'POST', '/v1/tenants/default/keys', { name: 'reports', scopes: ['submit'] });
  await call('createVisitor', 'POST', '/v1/sessions/web%2Fanna/visitors', { name: 'Anna' });
  await call('createDaemon', 'POST', '/v1/daemons', { name: 'studio', capabilities: ['gpu'], slots: 2 });
  await expect(await examples()).toMatchFileSnapshot('../../../services/api/examples.gen.ts');
});
