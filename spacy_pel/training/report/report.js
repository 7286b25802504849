// filters the errors; without it all of them are shown
(() => {
  const form = document.querySelector(".filter");
  const errors = [...document.querySelectorAll(".error")].map((element) => ({
    element,
    run: [element.dataset.run],
    kind: [element.dataset.kind],
    type: element.dataset.type.split("\n"),
    text: element.textContent.toLowerCase(),
  }));
  const apply = () => {
    const wanted = Object.fromEntries(new FormData(form));
    const text = wanted.text.trim().toLowerCase();
    let shown = 0;
    for (const error of errors) {
      const fits = ["run", "kind", "type"].every((key) => !wanted[key] || error[key].includes(wanted[key]));
      const visible = fits && error.text.includes(text);
      error.element.hidden = !visible;
      shown += visible;
    }
    document.querySelector(".shown").textContent = shown;
  };
  form.hidden = false;
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  apply(); // the browser may have kept the choices of an earlier visit
})();
