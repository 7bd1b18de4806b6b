import { expect, test } from 'vitest';
import { createLocalLog } from '#shared/log/create-log.ts';
import { consoleLines } from '../../../services/local/log-destinations.ts';

function logTo(level = 'info', hasColors = false): { log: ReturnType<typeof createLocalLog>; lines: string[]; json: string[] } {
  const lines: string[] = [];
  const json: string[] = [];
  const file = { write: (line: string) => void json.push(line) };
  const log = createLocalLog({
    level,
    service: 'local',
    destinations: [file, consoleLines({ write: (text) => lines.push(text) }, { hasColors })],
  });
  return { log, lines, json };
}

test('an ordinary line is its time, with the zone, and message', () => {
  const { log, lines } = logTo();
  log.info('Redis is up');
  expect(lines).toEqual([expect.stringMatching(/^\d\d:\d\d:\d\d \S+ {2}Redis is up\n$/)]);
});

test('a line that is not ordinary says how bad it is, and why', () => {
  const { log, lines } = logTo();
  log.error({ err: new Error('no route') }, 'The agent failed');
  expect(lines[0]).toMatch(/^\S+ \S+ {2}ERROR {2}The agent failed {2}\(no route\)\n$/);
});

test('what an agent wrote steers no terminal and stays on its line', () => {
  const { log, lines } = logTo('info', true);
  log.info({ event: 'task.failed', reason: 'a\u001B[2J\nb' }, 'one\r\n09:00:00 two\u009B31m \u001B]0;title\u0007');
  const [line = ''] = lines;
  expect(line).toMatch(/ {2}one 09:00:00 two {2}\(a b\)\n$/);
  // oxlint-disable-next-line no-control-regex -- none may come
  expect(line).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F]/);
});

test('a failed attempt and a refused delivery say with which code, and why', () => {
  const { log, lines } = logTo();
  log.warn({ event: 'task.failed', task: '01J', agent: 'echo', code: 'NETWORK_ERROR', reason: 'no route' }, 'failed');
  log.info({ event: 'webhook.refused', code: 'hook.not-found', reason: 'There is no such hook' }, 'webhook refused');
  expect(lines[0]).toMatch(/ {2}WARN {2}failed {2}\(NETWORK_ERROR: no route\) {2}task 01J {2}agent echo\n$/);
  expect(lines[1]).toMatch(/ {2}webhook refused {2}\(hook\.not-found: There is no such hook\)\n$/);
});

test('a line about a task names it and its agent; without a message, the event is its words', () => {
  const { log, lines } = logTo();
  log.info({ event: 'task.completed', task: '01J', agent: 'echo' });
  expect(lines[0]).toMatch(/ {2}task\.completed {2}task 01J {2}agent echo\n$/);
});

test('a line about many tasks says how many, and any other number of tasks stays in the file', () => {
  const { log, lines } = logTo();
  log.info({ event: 'task.created', tasks: '01J,01K,01L', agent: 'echo' }, 'accepted');
  log.info({ tasks: 3, agent: 'echo' }, 'done');
  expect(lines[0]).toMatch(/ {2}accepted {2}3 tasks {2}agent echo\n$/);
  expect(lines[1]).toMatch(/ {2}done\n$/);
});

test('a request that went well is in the file only, like steps that the next one tells of, and one that failed is shown', () => {
  const { log, lines, json } = logTo();
  log.info({ event: 'http.request' }, 'request');
  log.info({ event: 'task.queued' }, 'queued');
  log.info({ event: 'task.scheduled' }, 'given to a worker');
  log.info({ event: 'worker.started' }, 'taking tickets');
  log.warn({ event: 'http.request' }, 'request failed');
  expect(json).toHaveLength(5);
  expect(lines).toEqual([expect.stringContaining('request failed')]);
});

test('what another library prints is shown as it is', () => {
  const out: string[] = [];
  consoleLines({ write: (text) => out.push(text) }, { hasColors: false }).write('plain words\n');
  expect(out).toEqual(['plain words\n']);
});

test('every line is in the file as JSON too, also below info when the level asks for it', () => {
  const { log, lines, json } = logTo('debug');
  log.debug({ task: '01J' }, 'detail');
  expect(JSON.parse(json[0] ?? '')).toMatchObject({ level: 'debug', msg: 'detail', task: '01J', service: 'local' });
  expect(lines[0]).toContain('DEBUG  detail');
});

test('a terminal that has colours gets warnings in one', () => {
  const { log, lines } = logTo('info', true);
  log.warn('careful');
  log.info('plain');
  expect(lines[0]?.startsWith('\u001B[33m')).toBe(true);
  expect(lines[0]?.endsWith('\u001B[0m\n')).toBe(true);
  expect(lines[1]).not.toContain('\u001B');
});
