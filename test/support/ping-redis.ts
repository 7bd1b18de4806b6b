import { connect } from 'node:net';

/** Whether a Redis at this address answers PING; a server that loads its data does not. */
export function answersPing(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host, () => socket.write('PING\r\n'));
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk.toString();
      if (answer.includes('\r\n')) socket.destroy();
    });
    socket.on('error', () => undefined);
    // With `requirepass` an error is an answer too.
    socket.on('close', () => resolve(answer.startsWith('+PONG') || answer.startsWith('-NOAUTH')));
  });
}
