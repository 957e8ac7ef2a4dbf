// Looks through the sections of the documentation for all words that are typed.
addEventListener("DOMContentLoaded", async () => {
  const [input, count, found] = ["words", "count", "found"].map(id => document.getElementById(id));
  const answer = await fetch("/docs/search.json");
  const entries = (await answer.json()).map(entry => ({
    ...entry, inTitle: entry.title.toLowerCase(), inText: `${entry.title} ${entry.text}`.toLowerCase(),
  }));

  const around = (entry, word) => {
    const at = entry.text.toLowerCase().indexOf(word);
    const from = Math.max(0, at - 60);
    return (from > 0 ? "… " : "") + entry.text.slice(from, from + 200) + (entry.text.length > from + 200 ? " …" : "");
  };

  const show = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(word => word !== "");
    const rank = entry => words.filter(word => entry.inTitle.includes(word)).length;
    const hits = words.length === 0 ? [] : entries.filter(entry => words.every(word => entry.inText.includes(word)));
    hits.sort((one, other) => rank(other) - rank(one));
    count.textContent = words.length === 0 ? "" : `${hits.length} found`;
    found.replaceChildren(...hits.slice(0, 50).map(entry => {
      const item = document.createElement("li");
      const link = document.createElement("a");
      link.href = entry.address;
      link.textContent = entry.title;
      const page = document.createElement("span");
      page.className = "status";
      page.textContent = ` ${entry.page}`;
      const text = document.createElement("p");
      text.textContent = around(entry, words[0]);
      item.append(link, page, text);
      return item;
    }));
  };

  input.addEventListener("input", show);
  input.value = decodeURIComponent(location.hash.slice(1));
  show();
});
