import type { Command } from 'commander';
import { z } from 'zod';
import { readTextAnswer } from '#shared/config/index.ts';
import { readAnswer } from '../../client/api-client.ts';
import type { CommandContext, ContextOf } from '../../command-context.ts';
import { showList, type ListOptions } from '../../output/table.ts';
import { pointInTime } from '../../output/terminal.ts';
import { addPaging, type JsonOptions } from '../options.ts';

const questionSchema = z.object({
  id: z.string(),
  taskId: z.string(),
  agent: z.string(),
  question: z.string(),
  choices: z.array(z.string()).nullish(),
  schema: z.record(z.string(), z.json()).nullish(),
  status: z.string(),
  answer: z.unknown(),
  answeredBy: z.object({ name: z.string() }).nullish(),
  askedAt: z.string().nullish(),
  expiresAt: z.string().nullish(),
});
type Question = z.infer<typeof questionSchema>;

interface ListQuestionsOptions extends ListOptions {
  status: string;
  task?: string;
}

export function addQuestionCommands(program: Command, contextOf: ContextOf): void {
  addPaging(program.command('questions').description('list what runs ask people'), '50')
    .option('--status <status>', 'open, answered, expired, withdrawn, or all', 'open')
    .option('--task <id>', 'those of one task')
    .action((options: ListQuestionsOptions, command: Command) => runQuestions(options, contextOf(command)));
  program
    .command('answer <id> <answer>')
    .description('answer a question of a run: one of its choices, JSON where it has a schema, or else a text')
    .option('--json', 'print the answer as JSON')
    .action((id: string, answer: string, { json }: JsonOptions, command: Command) => runAnswer({ id, answer, json }, contextOf(command)));
}

function runQuestions({ json, status, task, ...query }: ListQuestionsOptions, context: CommandContext): Promise<void> {
  return showList(
    {
      path: '/v1/questions',
      query: { ...query, ...(status !== 'all' && { status }), ...(task !== undefined && { taskId: task }) },
      item: questionSchema,
      heading: ['QUESTION', 'AGENT', 'STATUS', 'ASKS'],
      row: (question) => [question.id, question.agent, question.status, textOf(question)],
      empty: 'No question matches.',
      summary: openOf,
    },
    json === true ? { json } : {},
    context,
  );
}

/** What is open, and since when. */
function openOf(questions: readonly Question[]): string | null {
  const open = questions.filter(({ status }) => status === 'open');
  const [oldest] = open.flatMap(({ askedAt }) => askedAt ?? []).toSorted();
  if (open.length === 0) return null;
  return `${open.length} open${oldest === undefined ? '' : `, the oldest since ${pointInTime(oldest)}`}. Answer one by "answer <id> <answer>".`;
}

function textOf({ question, choices, status, answer, answeredBy, expiresAt }: Question): string {
  const offered = choices ? ` (${choices.join(' / ')})` : '';
  if (status === 'open') return `${question}${offered}${expiresAt ? `; until ${pointInTime(expiresAt)}` : ''}`;
  const given = status === 'withdrawn' ? '' : `: ${JSON.stringify(answer)}`;
  return `${question}${given}${answeredBy ? ` by ${answeredBy.name}` : ''}`;
}

interface AnswerCommand {
  id: string;
  answer: string;
  json: boolean | undefined;
}

async function runAnswer({ id, answer, json }: AnswerCommand, context: CommandContext): Promise<void> {
  const api = context.connect();
  const path = `/v1/questions/${encodeURIComponent(id)}`;
  const asked = readAnswer(questionSchema, await api.get(path));
  const given = await api.post(`${path}/answer`, {
    body: { answer: asked.schema ? readTextAnswer({ choices: null, schema: asked.schema }, answer) : answer },
  });
  if (json === true) return context.terminal.json(given);
  context.terminal.line(`Task ${asked.taskId} goes on with ${JSON.stringify(readAnswer(questionSchema, given).answer)}.`);
}
