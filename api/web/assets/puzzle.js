// Solves the puzzle of the page, and sends its form again.
const puzzle = document.getElementById("puzzle");
puzzle.querySelector("progress").hidden = false;
const text = new TextEncoder();
const isSolved = async n => {
  const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", text.encode(puzzle.dataset.puzzle + n)));
  return sum[0] === 0 && sum[1] === 0;
};
for (let n = 0; ; n += 64) {
  const tries = await Promise.all(Array.from({length: 64}, (_, i) => isSolved(n + i)));
  const found = tries.indexOf(true);
  if (found < 0) continue;
  puzzle.elements.solution.value = n + found;
  puzzle.submit();
  break;
}
