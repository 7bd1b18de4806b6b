import { z } from 'zod';
import { readAnswer } from './read-answer.ts';
import type { RunContext } from './run-context.ts';
import { schedulePath, scheduleViewSchema, showUpcoming } from './schedule-view.ts';

interface JsonOption {
  json?: boolean;
}

/** `muster schedule pause`: it does not fire until it is resumed. */
export async function pauseSchedule(name: string, { json }: JsonOption, context: RunContext): Promise<void> {
  const { terminal } = context;
  const answer = await context.connect().patch(schedulePath(name), { body: { status: 'paused' } });
  if (json === true) return terminal.json(answer);
  const { number } = readAnswer(scheduleViewSchema, answer);
  terminal.line(`Schedule ${number} is paused. Go on with npx muster schedule resume ${number}`);
}

/** `muster schedule resume`: it fires again, and says when. */
export async function resumeSchedule(name: string, { json }: JsonOption, context: RunContext): Promise<void> {
  const { terminal } = context;
  const answer = await context.connect().patch(schedulePath(name), { body: { status: 'active' } });
  if (json === true) return terminal.json(answer);
  const schedule = readAnswer(scheduleViewSchema, answer);
  terminal.line(`Schedule ${schedule.number} is active.`);
  showUpcoming(schedule, context);
}

/** `muster schedule cancel`: it never fires again; runs that have begun go on. */
export async function cancelSchedule(name: string, { json }: JsonOption, context: RunContext): Promise<void> {
  const { terminal } = context;
  const answer = await context.connect().delete(schedulePath(name));
  if (json === true) return terminal.json(answer);
  terminal.line(`Schedule ${name.replace(/^#/, '')} is canceled.`);
}

/** `muster schedule run`: makes a run now, besides its own times. */
export async function runSchedule(name: string, { json }: JsonOption, context: RunContext): Promise<void> {
  const { terminal } = context;
  const answer = await context.connect().post(`${schedulePath(name)}/run`);
  if (json === true) return terminal.json(answer);
  const { id, status } = readAnswer(z.object({ id: z.string(), status: z.string().nullable() }), answer);
  terminal.line(id);
  terminal.note(terminal.paintNote(`${status ?? 'no longer kept'}; follow it with npx muster task ${id}`, 'dim'));
}
