#pragma once

#include <string>
#include <utility>

#include "config/decoder.h"
#include "config/model.h"
#include "config/node.h"

namespace volley::config {

/// What every check of a decoded model works with: the model, and the tree that tells where each value
/// stands.
class ModelCheck {
  public:
    ModelCheck(Decoder& decoder, const Node& root, const Model& model)
        : decoder_(decoder), root_(root), model_(model) {}

  protected:
    /// Something is wrong with the value at `pointer`, or with the deepest on the way that there is.
    void wrong(const std::string& pointer, std::string text) {
        decoder_.wrong(locate(root_, pointer), pointer, std::move(text));
    }

    Decoder& decoder_;
    const Node& root_;
    const Model& model_;
};

}  // namespace volley::config
