// The buttons: there only where the controller's files say so, each confirmed, each sent by POST with the token.
import { el } from "./parts.js";

const WORDS = {
  pause: ["Pause", "Put everything back and pause?", "The controller undoes its changes and makes no more until you resume it. Containers keep running."],
  resume: ["Resume", "Resume the controller?", "It makes decisions again and, in live mode, changes the cluster."],
  end: ["Put back and end", "Put everything back and end the controller?", "It undoes its changes, verifies that, and exits. It does not restart by itself."],
};

export class Controls {
  constructor(token, trouble) {
    Object.assign(this, { token, trouble, shown: "" });
    document.getElementById("no").onclick = () => document.getElementById("sure").close();
  }

  show(controller) {
    const place = document.getElementById("buttons"), now = JSON.stringify([controller.actions, controller.session]);
    if (now === this.shown) return;
    this.shown = now;
    document.getElementById("sure").close(); // what it asked about is no longer so
    place.replaceChildren(...controller.actions.map((action) => {
      const button = el("button", WORDS[action][0], action === "end" ? "do" : "");
      button.id = `do-${action}`;
      button.onclick = () => this.confirm(action, controller.session);
      return button;
    }));
  }

  confirm(action, session) {
    const [word, question, consequence] = WORDS[action], yes = document.getElementById("yes");
    document.getElementById("sure-what").textContent = question;
    document.getElementById("sure-why").textContent = consequence;
    yes.textContent = word;
    yes.onclick = () => { document.getElementById("sure").close(); this.send(action, session); };
    document.getElementById("sure").showModal();
  }

  async send(action, session) {
    try {
      const answer = await fetch(`/actions/${action}`, {
        method: "POST",
        headers: { authorization: `Bearer ${this.token}`, "content-type": "application/json" },
        body: JSON.stringify({ session, confirmed: true }),
      });
      this.trouble(answer.ok ? "" : (answer.status === 409 ? (await answer.json()).refused : await answer.text()));
    } catch (error) {
      this.trouble(`the request could not be sent: ${error}`);
    }
  }
}
