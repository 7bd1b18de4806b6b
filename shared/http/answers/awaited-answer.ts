import type { Response } from 'express';
import { LATE, within } from '../../time/index.ts';
import { holdOpen, type OpenPlace } from './open-answer.ts';
import type { Answer } from '../route.ts';

const HEADERS = {
  'Content-Type': 'application/json; charset=utf-8',
  'Cache-Control': 'no-store, no-transform',
  // Nginx would hold the blanks back until it has a page of them.
  'X-Accel-Buffering': 'no',
};

/**
 * Sends JSON that may take long: its headers go out with status 200 after a while, before callers and proxies give up, and blanks until it is there, which JSON allows in front. The
 * connection is cut when it fails, or the server closes, so that nothing is taken for an answer.
 */
export async function sendAwaited(
  response: Response,
  place: OpenPlace,
  work: (gone: AbortSignal) => Promise<Answer>,
  sendAnswer: (answer: Answer) => void,
): Promise<void> {
  const blank = (): void => {
    if (response.headersSent && !response.writableNeedDrain && !response.writableEnded && !response.destroyed) response.write(' ');
  };
  await holdOpen(response, place, blank, async (gone) => {
    const working = work(gone);
    const early = await within(working, place.streams.headersMs);
    if (gone.aborted) return void response.destroy();
    if (early !== LATE) return sendAnswer(early);
    response.status(200).set(HEADERS);
    response.flushHeaders();
    blank();
    const { body } = await working;
    if (gone.aborted) response.destroy();
    else response.end(JSON.stringify(body));
  });
}
