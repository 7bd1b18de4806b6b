import { describe, expect, it } from 'vitest';
import { HeldFailure, TaskFailure } from '#shared/errors/task-failure.ts';
import type { Circuits } from '#shared/models/circuits/circuits.ts';
import { EndpointRequests } from '#shared/models/circuits/endpoint-requests.ts';
import { openGate } from '../../../support/agents/open-gate.ts';

type Admitted = Awaited<ReturnType<Circuits['admit']>>;

const PROBE: Admitted = { kind: 'go', isKnown: true, isProbe: true, name: 'tested http://e' };
const away = new TaskFailure('PROVIDER_ERROR', 'The endpoint answered 503', { details: { status: 503 } });
const wrong = new TaskFailure('PROVIDER_ERROR', 'The endpoint answered 409', { details: { status: 409 } });

/** What a request of this end says to its circuit, and what its attempt gets. */
async function send(
  run: (clock: { ms: number }, stop: AbortController, onPart: () => void) => Promise<string>,
  admitted: Admitted = PROBE,
): Promise<{ said: unknown[]; got: unknown }> {
  const said: unknown[] = [];
  const clock = { ms: 0 };
  const stop = new AbortController();
  const circuits = {
    admit: () => Promise.resolve(admitted),
    report: (_call: unknown, reason: string | null) => Promise.resolve(void said.push(reason)),
    release: () => Promise.resolve(void said.push('released')),
  };
  const requests = new EndpointRequests({ ...openGate({ circuits: { silenceMs: 1000 } }), circuits, now: () => clock.ms });
  const got = await requests
    .send({
      url: 'http://e/agent?x',
      signal: stop.signal,
      run: (onPart) => run(clock, stop, onPart),
      failureOf: (error) => error as TaskFailure,
    })
    .catch((error: unknown) => error);
  return { said, got };
}

/** Ends the request by a timeout after so long. */
function timeOut(clock: { ms: number }, stop: AbortController, ms: number): Promise<never> {
  clock.ms += ms;
  stop.abort(new DOMException('too long', 'TimeoutError'));
  return Promise.reject(new Error('aborted'));
}

describe('a request to an endpoint', () => {
  it('counts an answer where requests failed before, and says nothing where none did', async () => {
    expect(await send(() => Promise.resolve('good'))).toEqual({ said: [null], got: 'good' });
    const { said } = await send(() => Promise.resolve('good'), { ...PROBE, isKnown: false, isProbe: false });
    expect(said).toEqual([]);
  });

  it('counts an answer that came before a stop', async () => {
    const { said, got } = await send((_clock, stop) => {
      stop.abort(new Error('stopped'));
      return Promise.resolve('good');
    });
    expect({ said, got }).toEqual({ said: [null], got: 'good' });
  });

  it('counts a failure of the endpoint, which spends no attempt of the task that tries it', async () => {
    const { said, got } = await send(() => Promise.reject(away));
    expect(said).toEqual([away.message]);
    expect(got).toBeInstanceOf(HeldFailure);
    expect(got).toMatchObject({ hold: { gate: 'circuit', what: 'tested http://e' } });
  });

  it('spends an attempt when it fails after its answer began', async () => {
    const { got } = await send((_clock, _stop, onPart) => {
      onPart();
      return Promise.reject(away);
    });
    expect(got).toBe(away);
  });

  it('takes an answer of 4xx for one of an endpoint that works', async () => {
    expect(await send(() => Promise.reject(wrong))).toEqual({ said: [null], got: wrong });
  });

  it('counts a timeout when nothing came for long, and releases its place when something did or it was stopped otherwise', async () => {
    expect((await send((clock, stop) => timeOut(clock, stop, 1000))).said).toEqual(['nothing came for 1000 ms']);
    const came = await send((clock, stop, onPart) => {
      clock.ms += 900;
      onPart();
      return timeOut(clock, stop, 900);
    });
    expect(came.said).toEqual(['released']);
    const stopped = await send((clock, stop) => {
      clock.ms += 5000;
      stop.abort(new Error('drained'));
      return Promise.reject(new Error('aborted'));
    });
    expect(stopped).toEqual({ said: ['released'], got: new Error('drained') });
  });

  it('is not sent while the circuit is open', async () => {
    const hold = { gate: 'circuit', what: 'tested http://e' } as const;
    const { said, got } = await send(() => expect.unreachable(), { kind: 'wait', untilMs: 5, failures: 3, reason: 'out of order', hold });
    expect(said).toEqual([]);
    expect(got).toMatchObject({
      hold,
      message: 'http://e failed 3 times in a row (out of order), and one call at a time tries it again',
    });
  });
});
