/** What a tenant wants of a cap, and what it may have of it at the moment. */
export interface Claim {
  /** Its grants and what waits for one. */
  demand: number;
  weight: number;
  /** The most of the cap that it has, or may have by a share that still holds somewhere. */
  taken: number;
}

/**
 * Divides a cap among tenants: each gets what it wants when that is possible, and all get the same besides for what comes next; else the
 * cap is divided by weight, as far as each wants. Nobody is raised before what others had is free, so that the cap holds while processes
 * still know former shares. `turn` says who is first where the cap has fewer places than there are tenants. Pure.
 */
export function shareOut(cap: number, claims: readonly Claim[], turn: number): number[] {
  const targets = divide(cap, claims, turn);
  let free = cap - claims.reduce((sum, { taken }) => sum + taken, 0);
  return claims.map(({ taken }, position) => {
    const target = targets[position] ?? 0;
    if (target <= taken) return target;
    const more = Math.max(0, Math.min(target - taken, free));
    free -= more;
    return taken + more;
  });
}

function divide(cap: number, claims: readonly Claim[], turn: number): number[] {
  const wanted = claims.reduce((sum, { demand }) => sum + demand, 0);
  const spare = Math.floor((cap - wanted) / Math.max(1, claims.length));
  return spare >= 0 ? claims.map(({ demand }) => demand + spare) : divideByWeight(cap, claims, turn);
}

/** Who wants least for its weight is served first; the others get the same for their weight, and the places left over by turns. */
function divideByWeight(cap: number, claims: readonly Claim[], turn: number): number[] {
  const given = claims.map(() => 0);
  const order = claims.map((claim, position) => ({ ...claim, position })).toSorted((a, b) => a.demand / a.weight - b.demand / b.weight);
  let left = cap;
  let weights = order.reduce((sum, { weight }) => sum + weight, 0);
  const hungry = order.filter(({ demand, weight, position }) => {
    if (demand > (left * weight) / weights) return true;
    given[position] = demand;
    left -= demand;
    weights -= weight;
    return false;
  });
  for (const { weight, position } of hungry) given[position] = Math.floor((left * weight) / weights);
  const over = left - hungry.reduce((sum, { position }) => sum + (given[position] ?? 0), 0);
  for (let next = 0; next < over; next += 1) {
    const position = hungry[(turn + next) % hungry.length]?.position;
    if (position !== undefined) given[position] = (given[position] ?? 0) + 1;
  }
  return given;
}
