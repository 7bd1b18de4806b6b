import { inputSchemaOf } from '../../config/index.ts';
import { hasCode, MusterError } from '../../errors/index.ts';
import { copyJournal, dropJournal, type NumberedEntry, openJournal } from '../../ledger/index.ts';
import { type Accepted, acceptTask, type AcceptRequest, type Intake } from '../../queue/index.ts';
import { newTaskId, type Task, type TaskBody, taskRequestSchema } from '../../tasks/index.ts';

/**
 * Makes a new task of one that has ended, which has its journal up to a step and goes on from there. `fromStep`: the number of an entry behind the
 * first one. Errors: `request.invalid` for an entry that there is not, or behind one that has not ended; `seal.key-lost`; as `acceptTask`.
 */
export async function retryFromStep(intake: Intake, { body, state }: Task, fromStep: number): Promise<Accepted> {
  const { entries } = await openJournal(intake.ledger, body);
  const kept = keptEntries(entries, fromStep);
  const id = newTaskId();
  await copyJournal(intake.ledger, { tenant: body.tenant, to: id, entries: kept });
  try {
    await shareFiles(intake, body.tenant, { id, entries: kept });
    return await acceptTask(intake, { ...(await requestOf(intake, body)), id, priority: state.priority });
  } catch (error) {
    await dropJournal(intake.ledger, body.tenant, id);
    throw error;
  }
}

function keptEntries(entries: readonly NumberedEntry[], fromStep: number): NumberedEntry[] {
  const last = entries.at(-1)?.seq ?? 0;
  if (fromStep < 2 || fromStep > last + 1)
    throw invalid(last < 1 ? 'the task has no journal' : `expected a number from 2 to ${last + 1}, got ${fromStep}`);
  const kept = entries.filter(({ seq }) => seq < fromStep);
  const open = kept.find(({ status }) => status === 'started' || status === 'waiting');
  if (open || kept.length < fromStep - 1)
    throw invalid(`expected a step behind entries that have ended, and ${open?.seq ?? fromStep - 1} has not`);
  return kept;
}

/** Keeps the files of entries as long as the new task, too. */
async function shareFiles(
  { files }: Intake,
  tenant: string,
  { id, entries }: { id: string; entries: readonly NumberedEntry[] },
): Promise<void> {
  const large = entries.flatMap((entry) => (entry.large ? [entry.large.file] : []));
  if (large.length === 0) return;
  await files?.bind(tenant, id, large).catch((error: unknown) => {
    throw hasCode(error, 'upload.not-found') ? invalid('a file with what an earlier step gave is not kept any more') : error;
  });
}

function invalid(message: string): MusterError {
  return new MusterError('request.invalid', `fromStep: ${message}`, { details: { problems: [{ path: 'body.fromStep', message }] } });
}

/** What the task was made of, but for its times and its files, which belong to that task. */
async function requestOf(intake: Intake, body: TaskBody): Promise<AcceptRequest> {
  const definition = await intake.findAgent(body.tenant, body.agent);
  const isValue = definition !== null && inputSchemaOf(definition) !== undefined;
  const optional = {
    system: body.system,
    channel: body.channel,
    session: body.session,
    user: body.user,
    isUserClaimed: body.isUserClaimed,
    visitor: body.visitor,
    reply: body.reply,
    context: body.context,
    metadata: body.metadata,
    request: body.request,
    keyId: body.keyId,
    correlationId: body.correlationId,
    requirements: body.requirements,
    callbackUrl: body.callbackUrl,
    within: body.execution.withinMs ?? null,
  };
  return {
    tenant: body.tenant,
    agent: body.agent,
    source: body.source,
    input: isValue ? taskRequestSchema.shape.input.parse(JSON.parse(body.input)) : body.input,
    untrusted: body.untrusted,
    execution: body.execution,
    trigger: 'retry',
    sourceId: body.id,
    ...withoutNulls(optional),
  };
}

function withoutNulls<Fields extends object>(fields: Fields): { [Name in keyof Fields]?: NonNullable<Fields[Name]> } {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Nulls are gone.
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as {
    [Name in keyof Fields]?: NonNullable<Fields[Name]>;
  };
}
