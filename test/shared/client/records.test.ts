import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { type Document, printRecords, type RecordFile } from './print-records.ts';

const ROOT = resolve(import.meta.dirname, '../../..');

/** Which component is in which file of `shared/client/records`. */
const FILES: Record<string, RecordFile> = {
  'task.ts': {
    says: 'A task as the API answers it.',
    components: ['TaskStatus', 'Task', 'TaskAttachment', 'TaskError', 'Outcome', 'Usage'],
  },
  'task-reads.ts': {
    says: 'Lists of tasks, and what is read of one besides its record.',
    components: ['Artifact', 'Why', 'TaskCancelled'],
    queries: ['listTasks'],
  },
  'requests.ts': {
    says: 'What the API takes to make a task, and its first answer.',
    components: ['TaskRequest', 'Attachment', 'Accepted', 'BulkAnswer', 'Upload', 'Problem'],
  },
  'schedules.ts': {
    says: 'Schedules, and the runs that they made.',
    components: ['ScheduleStatus', 'Schedule', 'ScheduleRequest', 'SchedulePatch', 'SchedulePreviewRequest', 'SchedulePreview', 'Run'],
    queries: ['listSchedules', 'listScheduleRuns'],
  },
  'sessions.ts': {
    says: 'Conversations.',
    components: ['MessageRequest', 'AcceptedMessage', 'CommandAnswer', 'Session', 'SessionSummary', 'StopSessionAnswer', 'Turn'],
    queries: ['listSessions'],
  },
};

const document = JSON.parse(await readFile(join(ROOT, 'docs/openapi.json'), 'utf8')) as Document;

it('the types of records are those of docs/openapi.json; `npm run openapi` writes them', async () => {
  for (const [file, text] of await printRecords(document, FILES)) {
    await expect(text).toMatchFileSnapshot(join(ROOT, 'shared/client/records', file));
  }
});
